import { describe, expect, it } from "vitest";
import { feed } from "../../../test/support/codec-harness.ts";
import { expectMessages, sessionDevice, uplinks } from "../../../test/support/vector-checks.ts";
import { readVectors, requestBytes } from "../../../test/support/vectors.ts";
import { osmand } from "./protocol.ts";

const vectors = readVectors("osmand.jsonl");

describe.skipIf(vectors.length === 0)("captured requests of phones", () => {
  it.each(uplinks(vectors))("uplink %i", (_, vector) => {
    const id = /(?:\?|&|"device_)(?:device)?id[=":\s]+(\w+)/.exec(vector.frame)?.[1] ?? "";
    const world = { protocol: osmand, nowMs: Date.UTC(2026, 2, 1), device: sessionDevice(id) };
    const session = { nowMs: world.nowMs, device: undefined, memory: new Map<string, string>() };
    const fed = feed(world, session, [requestBytes(vector)]);
    expect(fed.rest).toHaveLength(0);
    if (vector.expect.kind === "null") {
      // Nothing to store, and an answer that says so.
      expect(fed.problems).toMatchObject([{ reason: "request without an id" }]);
      return;
    }
    expect(fed.problems).toEqual([]);
    const [login, ...messages] = fed.frames.flatMap((frame) => frame.messages);
    expect(login?.kind).toBe("login");
    expectMessages(messages, vector);
    const fix = messages.find((message) => message.kind === "fix");
    if (vector.expect.kind === "position") expect(fix?.gps).not.toBeNull();
    const vitals = messages.find((message) => message.kind === "vitals");
    expect(vitals?.extra ?? {}).toMatchObject(vector.expect.attributes ?? {});
  });
});
