import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { h02World } from "../../../test/support/h02-corpus.ts";
import { readVectors, type Vector, vectorBytes } from "../../../test/support/vectors.ts";
import { nextPiece } from "./framing.ts";

const vectors = readVectors("h02.jsonl");
const vectorsOf = (direction: Vector["direction"]) =>
  vectors.filter((vector) => vector.direction === direction).map((vector) => [vector.seq ?? 0, vector] as const);

/** Rows of which we do less or something else, by their number. */
const deviations: Readonly<Record<number, string>> = {
  6: "nothing announces the 13 bytes that follow the 32: they are skipped as stray",
  8: "nothing announces the 13 bytes that follow the 32: they are skipped as stray",
  100: "the catalog has no command to arm a car",
  102: "the catalog has no command to stop an engine",
};

/** The id as the frame spells it. */
function idOf(bytes: Buffer): string {
  if (bytes[0] === 0x2a) return bytes.toString("latin1").split(",")[1] ?? "";
  return bytes.length === 42 ? bytes.toString("hex", 1).slice(0, 15) : bytes.toString("hex", 1, 6);
}

function fed(bytes: Buffer) {
  const id = idOf(bytes);
  const world = { ...h02World, device: { ...h02World.device, id, imei: id.padStart(15, "0") } };
  return feed(world, { nowMs: world.nowMs, device: undefined, memory: new Map() }, [bytes]);
}

describe.skipIf(vectors.length === 0)("captured frames of h02", () => {
  it.each(vectorsOf("framing"))("framing %i", (seq, vector) => {
    const length = deviations[seq] === undefined ? vectorBytes(vector.expect).length : 32;
    expect(nextPiece(vectorBytes(vector), 0, 0)).toEqual({ kind: "frame", start: 0, end: length });
  });

  it.each(vectorsOf("uplink"))("uplink %i", (_, vector) => {
    const bytes = vectorBytes(vector);
    const { frames, problems, rest } = fed(bytes);
    expect([problems.filter(({ isFrame }) => isFrame), rest.length]).toEqual([[], 0]);
    const [login, ...messages] = frames.flatMap((frame) => frame.messages);
    expect(login).toEqual({ kind: "login", id: idOf(bytes) });
    const { kind, time, valid, lat, lon, attributes } = vector.expect;
    const fix = messages.find((message) => message.kind === "fix");
    const vitals = messages.find((message) => message.kind === "vitals");
    if (kind === "null") return expect([fix?.gps ?? null, fix?.cells ?? []]).toEqual([null, []]);
    expect(fix ?? vitals).toBeDefined();
    if (attributes?.batteryLevel !== undefined) expect(vitals?.metrics.bat).toBe(attributes.batteryLevel);
    if (attributes?.status !== undefined) {
      expect(Number.parseInt(String(vitals?.extra.status), 16)).toBe(attributes.status);
    }
    if (kind !== "position") return;
    if (time !== undefined) expect(fix?.deviceTimeMs).toBe(Date.parse(time));
    if (valid !== undefined) expect(fix?.gps !== null).toBe(valid);
    if (valid === false) return;
    if (lat !== undefined) expect(Math.abs((fix?.gps?.lat ?? 0) - lat)).toBeLessThan(1.1e-5);
    if (lon !== undefined) expect(Math.abs((fix?.gps?.lng ?? 0) - lon)).toBeLessThan(1.1e-5);
  });

  it("has a reason for each command that the catalog does not know", () =>
    expect(vectorsOf("command").filter(([seq]) => deviations[seq] === undefined)).toEqual([]));
});
