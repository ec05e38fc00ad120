import { describe, expect, it } from "vitest";
import { decode } from "../../../test/support/codec-harness.ts";
import { expectMessages, sessionDevice, uplinks } from "../../../test/support/vector-checks.ts";
import { readVectors, vectorBytes } from "../../../test/support/vectors.ts";
import { commands, writeFrame } from "./framing.ts";
import { idOf, readItems, writeItem } from "./items.ts";
import { minifinder2 } from "./protocol.ts";

const vectors = readVectors("minifinder2.jsonl");

/** Rows of which we say less than they expect, by their number. */
const deviations: Readonly<Record<number, string>> = {
  1: "the frame was edited and its checksum is wrong: it is dropped, so that a device would send it again",
  15: "a heartbeat is stored as a sign of life, not as a record",
  16: "a question for the time is stored as a sign of life, not as a record",
};

describe.skipIf(vectors.length === 0)("captured frames of Eview pendants", () => {
  it.each(uplinks(vectors))("uplink %i", (seq, vector) => {
    const bytes = vectorBytes(vector);
    const items = readItems(bytes.subarray(9));
    const id = idOf(items, bytes[8] === commands.configuration ? 0x03 : 0x01) ?? "490155500012348";
    const session = { nowMs: Date.UTC(2026, 2, 1), device: sessionDevice(id), memory: new Map<string, string>() };
    const { frames, problems, rest } = decode(minifinder2, bytes, session);
    if (seq === 1) {
      expect(problems).toMatchObject([{ reason: "frame with a wrong checksum", isFrame: true }]);
      return;
    }
    expect({ problems, rest: rest.length, frames: frames.length }).toEqual({ problems: [], rest: 0, frames: 1 });
    const messages = frames[0]?.messages ?? [];
    if (deviations[seq] === undefined) expectMessages(messages, vector);
    const { result, ...attributes } = vector.expect.attributes ?? {};
    if (result === "0") expect(messages).toMatchObject([{ kind: "command_answer", isAccepted: true }]);
    else if (result !== undefined) expect(messages.at(-1)).toMatchObject({ extra: { result } });
    const extra = messages.find((message) => message.kind === "vitals")?.extra ?? {};
    expect(extra).toMatchObject(attributes);
  });

  // The catalog has no command that hands a device its firmware; the frame around it is ours.
  const written = vectors.filter(({ direction }) => direction === "command");
  it.each(written.map((vector) => [vector.seq, vector] as const))("command %i", (_, { command, expect: expected }) => {
    const url = Buffer.from(String(command?.attributes?.data));
    const payload = Buffer.concat([Buffer.from([commands.control]), writeItem(0x30, url)]);
    expect(writeFrame(payload, 1, 0, false)).toEqual(vectorBytes(expected));
  });
});
