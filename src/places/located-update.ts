import type { Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import type { OutboundFact } from "../outbox/outbound-entry.ts";
import { appendFacts } from "../outbox/outbound-log.ts";
import { locationUpdateJson } from "../resources/locations/location-envelope.ts";
import type { LocatedPosition } from "./place-store.ts";

/**
 * Tells partners of a position that was found by the networks around the device, after its packet was stored, and of what follows
 * from it. The last write of a transaction.
 */
export const publishLocated =
  (clock: Clock) =>
  async (tx: Tx, position: LocatedPosition, consequences: readonly OutboundFact[] = []): Promise<void> => {
    const update = await locationUpdateOf(tx, position);
    await appendFacts(tx, update ? [update, ...consequences] : consequences, clock.nowMs());
  };

/** Undefined: the position is not valid, or its device is gone. */
async function locationUpdateOf(tx: Tx, position: LocatedPosition): Promise<OutboundFact | undefined> {
  const { id, deviceId, organizationId, ts, deviceTs, receivedAt, invalidReason, source } = position;
  if (invalidReason !== null) return undefined;
  const device = await tx.maybeOne<{ uid: string }>`
    select uid from devices where organization_id = ${organizationId} and id = ${deviceId}`;
  if (!device) return undefined;
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
  return { organizationId, type: "location.update", deviceUid: device.uid, occurredAtMs: ts.getTime(), json };
}
