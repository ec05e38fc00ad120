import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { onClient } from "../db/database.ts";
import { uuidBytes, uuidV7 } from "../lib/ids.ts";
import { isOtherSim, lastSimOf, listKnownSims, type Sim, saveSim } from "../resources/devices/device-sim.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";
import { simChangedEvent } from "./observed-events.ts";

/** The SIM that a frame tells; undefined when it tells none. */
export function simIn(messages: readonly TrackerMessage[]): Sim | undefined {
  for (const message of messages) {
    if (message.kind !== "info" || (message.iccid ?? message.imsi) === undefined) continue;
    return { iccid: message.iccid ?? null, imsi: message.imsi ?? null };
  }
  return undefined;
}

/** Keeps the SIM that devices tell, and makes an event of each change (section 30). */
export const simChanges: BatchStep = async (client, packets, rows) => {
  const found = packets.flatMap(({ hold, messages, receivedAtMs }) => {
    const reported = simIn(messages);
    return reported ? [{ hold, reported, receivedAtMs }] : [];
  });
  if (found.length === 0) return;
  const db = onClient(client);
  const devices = found.map(({ hold }) => hold.device);
  const known = await listKnownSims(
    db,
    devices.map(({ id }) => id),
    devices.map(({ organizationId }) => organizationId),
  );
  const sims = new Map(
    known.map((row) => [
      row.device_id,
      { last: lastSimOf(row), isTold: row.sim_iccid !== null || row.sim_imsi !== null },
    ]),
  );
  for (const { hold, reported, receivedAtMs } of found.toSorted(byDeviceId)) {
    const { id, organizationId } = hold.device;
    const { last = { iccid: null, imsi: null }, isTold = false } = sims.get(id) ?? {};
    const isOther = isOtherSim(last, reported);
    // What is not reported stays as it was, unless the card is another one.
    const sim = isOther ? reported : { iccid: reported.iccid ?? last.iccid, imsi: reported.imsi ?? last.imsi };
    const isSame = isTold && sim.iccid === last.iccid && sim.imsi === last.imsi;
    if (!isSame) await saveSim(db, organizationId, id, sim);
    sims.set(id, { last: sim, isTold: true });
    if (!isOther) continue;
    const eventId = uuidBytes(uuidV7(receivedAtMs));
    const observed = { hold, id: eventId, atMs: receivedAtMs, location: hold.memory.lastLocation };
    rows.events.push(simChangedEvent(observed, { iccid: reported.iccid, isRefused: false }));
  }
};
