import type { Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { appendFacts } from "../outbox/outbound-log.ts";
import { locationUpdateJson } from "../resources/locations/location-envelope.ts";
import type { LocatedPosition } from "./place-store.ts";

/** `location.update` of a position that was found by the networks around the device, after its packet was stored. */
export const publishLocated =
  (clock: Clock) =>
  async (tx: Tx, position: LocatedPosition): Promise<void> => {
    const { id, deviceId, organizationId, ts, deviceTs, receivedAt, invalidReason, source } = position;
    if (invalidReason !== null) return;
    const device = await tx.maybeOne<{ uid: string }>`
      select uid from devices where organization_id = ${organizationId} and id = ${deviceId}`;
    if (!device) return;
    const located = {
      ...position,
      tsMs: ts.getTime(),
      deviceTimeMs: deviceTs?.getTime() ?? null,
      receivedAtMs: receivedAt.getTime(),
      altitudeM: null,
      speedKmh: null,
      heading: null,
      satellites: null,
      isMoving: null,
    };
    const json = locationUpdateJson(located, id, source, (timeMs) => new Date(timeMs).toISOString());
    const head = {
      organizationId,
      type: "location.update",
      deviceUid: device.uid,
      occurredAtMs: ts.getTime(),
    } as const;
    await appendFacts(tx, [{ ...head, json }], clock.nowMs());
  };
