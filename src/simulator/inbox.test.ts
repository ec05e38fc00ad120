import { expect, it } from "vitest";
import { Inbox } from "./inbox.ts";
import { Tally } from "./tally.ts";
import { makeAmr } from "./voice.ts";

const amr = makeAmr(1, 0.2);
const part = (sequence: number, transfer = "1", total = 3) => {
  const size = Math.ceil(amr.length / total);
  const bytes = amr.subarray((sequence - 1) * size, sequence * size);
  return { kind: "voice_part", transfer, total, sequence, bytes } as const;
};

it("a simulated inbox puts voice together, doubled parts once", () => {
  const tally = new Tally();
  const inbox = new Inbox(tally);
  for (const sequence of [1, 2, 2, 3]) inbox.voicePart(part(sequence));
  expect(inbox.lastVoice).toEqual(amr);
  expect(tally).toMatchObject({ voicePartsReceived: 4, voiceReceived: 1, brokenVoices: 0 });
});

it("a simulated inbox starts again with the first part and with another transfer", () => {
  const tally = new Tally();
  const inbox = new Inbox(tally);
  for (const sequence of [1, 2, 1, 3]) inbox.voicePart(part(sequence));
  expect(tally.voiceReceived).toBe(0);
  inbox.voicePart(part(2, "2"));
  inbox.voicePart(part(3, "2"));
  expect(tally.voiceReceived).toBe(0);
  for (const sequence of [1, 2, 3]) inbox.voicePart(part(sequence, "3"));
  expect(tally.voiceReceived).toBe(1);
});

it("a simulated inbox counts what is no voice", () => {
  const tally = new Tally();
  new Inbox(tally).voicePart({ kind: "voice_part", transfer: "1", total: 1, sequence: 1, bytes: Buffer.from("noise") });
  expect(tally).toMatchObject({ voiceReceived: 0, brokenVoices: 1 });
});
