import { expect, it, vi } from "vitest";
import { testSecrets } from "../../test/support/secrets.ts";
import type { Database } from "../db/database.ts";
import { makeManualClock } from "../lib/clock.ts";
import { makeLogger } from "../lib/logger.ts";
import { laneIdAt } from "../outbox/lane-ids.ts";
import { DeliveryLane } from "./delivery-lane.ts";
import type { DeliveryRecorder } from "./delivery-recorder.ts";
import { Slots } from "./delivery-slots.ts";
import type { LogRow, RetryRow } from "./delivery-store.ts";
import type { LaneParts } from "./lane-parts.ts";
import type { PushSettings } from "./lane-store.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
const integrationId = "0195512a-0000-7000-8000-000000000001";

const idOf = (seq: number): string => laneIdAt({ lane: 1, lastMs: clock.nowMs(), lastSeq: seq });
const rowOf = (seq: number): LogRow & { pushEpoch: number } => ({
  id: idOf(seq),
  type: "alarm.sos",
  deviceUid: "490154203237518",
  pushEpoch: 1,
  body: "{}",
  version: "1",
  trace: null,
});

/** A lane over a log and retries that are read once, and a receiver that never answers. */
function openLane(slots: Slots, rows: LogRow[], retries: RetryRow[]): { lane: DeliveryLane; begun: string[] } {
  const begun: string[] = [];
  const many = async ([text]: TemplateStringsArray): Promise<unknown[]> => {
    if (text?.includes("r.attempts")) return retries.splice(0);
    return text?.includes("push_epoch as") ? rows.splice(0) : [];
  };
  const parts: LaneParts = {
    db: { many } as unknown as Database,
    clock,
    log: makeLogger("silent"),
    secrets: testSecrets,
    recorder: { isBlocked: false, add: () => undefined } as unknown as DeliveryRecorder,
    slots,
    reads: (job) => job(),
    openTarget: () => ({
      send: ({ "webhook-id": id = "" }) => {
        begun.push(id);
        return new Promise(() => undefined);
      },
      close: () => undefined,
    }),
    metrics: { attempt: () => undefined },
    waitsMs: [1000],
    timeoutMs: 1000,
    maxInFlight: 32,
    tracer: undefined,
    onRetry: () => undefined,
    onClosed: () => undefined,
  };
  const settings: PushSettings = {
    integrationId,
    version: "1",
    lane: 1,
    lastMs: clock.nowMs(),
    lastSeq: 100,
    epoch: 1,
    isPaused: false,
    url: "https://partner.example/hook",
    secret: "secret",
    previousSecret: null,
    previousUntil: null,
    scopes: ["events:read"],
    webhookEventTypes: [],
    webhookDeviceFilter: [],
    messagingEnabled: false,
  };
  const claimed = { integrationId, organizationId: integrationId, cursorMs: 0, cursorSeq: 0, retryAt: clock.now() };
  return { lane: new DeliveryLane(claimed, settings, parts), begun };
}

it("a retry begins when it is given a slot, although new rows have come while it waited", async () => {
  const slots = new Slots(64);
  slots.allowLate(0);
  const retry = { ...rowOf(1), attempts: 1, dueAt: clock.now() };
  const rows = Array.from({ length: 50 }, (_, n) => rowOf(n + 2));
  const { lane, begun } = openLane(slots, rows, [retry]);
  lane.pump();
  await vi.waitFor(() => expect(begun).toHaveLength(3));
  slots.allowLate(1);
  await vi.waitFor(() => expect(begun.at(-1)).toBe(retry.id));
  lane.close();
});
