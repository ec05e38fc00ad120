import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { textFrame } from "./downlink.ts";
import { nextPiece } from "./framing.ts";
import { teltonika } from "./protocol.ts";

/** Rows that cannot be read, by their number. */
const unreadable: Readonly<Record<number, string>> = {
  10: "its checksum is wrong",
  14: "its checksum is wrong",
  20: "its length is zero",
  22: "its length is longer than the frame",
  24: "its length is longer than the frame",
  28: "its length is longer than the frame",
  36: "the picture in it was cut, so its checksum is wrong",
};

interface Row extends Vector {
  transport?: string;
}

const vectors = (readVectors("teltonika.jsonl") as Row[]).map((vector, row) => [row, vector] as const);
const vectorsOf = (direction: Vector["direction"]) => vectors.filter(([, vector]) => vector.direction === direction);

function read(bytes: Buffer, isLoggedIn: boolean) {
  const device = {
    imei: "123456789012345",
    id: "357454072713975",
    utcOffsetMinutes: 0,
    traits: {},
    locale: "en",
    outstandingSerials: new Set<string>(),
  };
  const session = { nowMs: 0, device: isLoggedIn ? device : undefined, memory: new Map<string, string>() };
  return feed({ protocol: teltonika, nowMs: 0, device }, session, [bytes]);
}

const lookups: Readonly<Record<string, (extra: Record<string, unknown>) => unknown>> = {
  eyeTemp1: (extra) => extra.eye_1_temperature_c,
  tag1Voltage: (extra) => (extra.tags as { battery_mv: number }[] | undefined)?.[0]?.battery_mv,
  driverUniqueId: (extra) => extra.driver_id,
};

const extraOf = (messages: readonly TrackerMessage[]): Record<string, unknown> =>
  messages.find((message) => message.kind === "vitals")?.extra ?? {};

describe.skipIf(vectors.length === 0)("captured frames of trackers", () => {
  it.each(vectorsOf("uplink"))("uplink %i", (row, vector) => {
    const bytes = vectorBytes(vector);
    const isLogin = bytes.length === 17 && bytes[1] === 15;
    const { frames, problems, rest } = read(bytes, !isLogin && vector.transport !== "udp");
    if (unreadable[row] !== undefined) return expect(problems.length + rest.length).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    expect(rest).toHaveLength(0);
    const messages = frames.flatMap((frame) => frame.messages);
    const { kind, attributes } = vector.expect;
    if (kind === "null") return expect(["login", "heartbeat"]).toContain(messages[0]?.kind);
    const extra = extraOf(messages);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      expect([name, String(lookups[name]?.(extra))]).toEqual([name, String(value)]);
    }
    if (kind !== "positions") return;
    const isText = bytes[8] === 0x0c || bytes[8] === 0x0d;
    if (isText) return expect(extra.result).not.toBe("");
    const fixes = messages.filter((message) => message.kind === "fix");
    const count = vector.transport === "udp" ? bytes.at(-1) : bytes[9];
    expect(fixes).toHaveLength(count ?? 0);
    for (const { gps } of fixes) expect(Math.abs(gps?.lat ?? 0) <= 90 && Math.abs(gps?.lng ?? 0) <= 180).toBe(true);
  });

  it.each(vectorsOf("framing"))("framing %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    const piece = nextPiece(bytes, 0, 0, { device: undefined, memory: new Map() });
    if (piece.kind === "incomplete") throw new Error("no piece");
    expect(bytes.subarray(piece.start, piece.end)).toEqual(vectorBytes(vector.expect));
  });

  it.each(vectorsOf("command"))("command %i", (_, vector) => {
    const text = String(vector.command?.attributes?.data);
    expect(textFrame(text)).toEqual(vectorBytes(vector.expect));
  });
});
