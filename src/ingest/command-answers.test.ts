import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "../codecs/tracker-message.ts";
import type { CommandRow } from "../resources/commands/command-record.ts";
import { judge } from "./command-answers.ts";

const command = (awaited: CommandRow["awaited"]): CommandRow =>
  ({ id: "c", device_id: "d", organization_id: "o", protocol_slug: "iw", number: 1_000_123, awaited }) as CommandRow;
const answer = (word: string, serial: string | null = null, more: Partial<CommandAnswer> = {}): CommandAnswer => ({
  kind: "command_answer",
  word,
  serial,
  isAccepted: null,
  fields: [],
  ...more,
});
const verdict = (awaited: CommandRow["awaited"], ...answers: CommandAnswer[]) => {
  const received = answers.map((one, index) => ({ answer: one, receivedAtMs: 1000 + index }));
  const { settlement, awaited: missing } = judge(command(awaited), received);
  return {
    status: settlement?.status,
    code: settlement?.error?.code,
    atMs: settlement?.at.getTime(),
    missing: missing.map(({ word }) => word),
  };
};

describe("an answer", () => {
  it("counts when serial and word are those of the command", () => {
    expect(verdict([{ word: "AP16" }], answer("AP16", "000123"))).toMatchObject({ status: "ack_ok", atMs: 1000 });
    expect(verdict([{ word: "AP16" }], answer("AP16", "000124"))).toMatchObject({ status: undefined });
    expect(verdict([{ word: "AP16" }], answer("AP18", "000123"))).toMatchObject({ status: undefined });
  });

  it("counts by its word where there is no serial", () => {
    expect(verdict([{ word: "CR" }], answer("UPLOAD"), answer("CR"))).toMatchObject({ status: "ack_ok", atMs: 1001 });
  });

  it("counts by its serial alone where the protocol does not tell the word", () => {
    expect(verdict([], answer("0001", "000123"))).toMatchObject({ status: "ack_ok" });
    expect(verdict([], answer("0001", "999999"))).toMatchObject({ status: undefined });
  });

  it("must come to every frame", () => {
    const both = [{ word: "AP76" }, { word: "AP77" }];
    expect(verdict(both, answer("AP77", "000123"))).toMatchObject({ status: undefined, missing: ["AP76"] });
    expect(verdict(both, answer("AP76", "000123"), answer("AP76", "000123"))).toMatchObject({ missing: ["AP77"] });
    expect(verdict(both, answer("AP77", "000123"), answer("AP76", "000123"))).toMatchObject({ status: "ack_ok" });
  });

  it("refuses with an echo of another value, or plainly", () => {
    const mode = [{ word: "AP33", echo: "1" }];
    const echoes = (value: string) => verdict(mode, answer("AP33", "000123", { fields: [value] }));
    expect(echoes("2")).toMatchObject({ status: "ack_error", code: "device_rejected" });
    expect(echoes("1")).toMatchObject({ status: "ack_ok" });
    expect(echoes("")).toMatchObject({ status: "ack_ok" });
    expect(verdict([{ word: "AP28" }], answer("AP28", "000123", { isAccepted: false }))).toMatchObject({
      code: "device_rejected",
    });
    const refusedAnswer = answer("0001", "000123", { isAccepted: false, refusal: "not_supported" });
    expect(verdict([], refusedAnswer)).toMatchObject({ status: "ack_error", code: "not_supported" });
  });

  it("that comes first is the one that counts", () => {
    const refusal = answer("CR", null, { isAccepted: false });
    expect(verdict([{ word: "CR" }], answer("CR"), refusal)).toMatchObject({ status: "ack_ok" });
    expect(verdict([{ word: "CR" }], refusal, answer("CR"))).toMatchObject({ status: "ack_error" });
  });
});
