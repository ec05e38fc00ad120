import type { Database, Tx } from "../db/database.ts";
import type { IngestDevice, LastLocation } from "../ingest/device-memory.ts";
import { insertEvents } from "../ingest/event-store.ts";
import { sessionConflictEvent, simChangedEvent } from "../ingest/observed-events.ts";
import type { Clock } from "../lib/clock.ts";
import { uuidBytes, uuidV7 } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { type ClaimedSession, claimConflict, isConflict } from "../resources/devices/device-sessions.ts";
import { claimSimRefusal } from "../resources/devices/device-sim.ts";
import { auditTakeover } from "../resources/devices/takeover-audit.ts";

/**
 * Tells that somebody else may be speaking for a device: a connection that is taken over from another network, and a SIM that
 * is not the pinned one. A takeover is an audit entry until it becomes a conflict, which is an event and an entry once an hour;
 * so an attacker fills neither. The addresses are in the event alone, for ADMINs.
 */
export class SessionConflicts {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onTakeover: () => void;
  readonly #writing = new Set<Promise<void>>();

  constructor(db: Database, clock: Clock, log: Logger, onTakeover: () => void) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#onTakeover = onTakeover;
  }

  takenOver(device: IngestDevice, session: ClaimedSession, remoteAddr: string): void {
    this.#onTakeover();
    const addresses = [session.previous_remote_addr ?? "", remoteAddr] as const;
    this.#write(device, (tx) => this.#writeTakeover(tx, device, session, addresses));
  }

  simRefused(device: IngestDevice, iccid: string | null): void {
    this.#write(device, async (tx) => {
      const now = this.#clock.now();
      if (!(await claimSimRefusal(tx, device.organizationId, device.id, now))) return;
      const event = simChangedEvent(observed(device, null, now.getTime()), { iccid, isRefused: true });
      await insertEvents(tx, [event], now.getTime());
    });
  }

  /** Does not keep the login waiting. */
  #write(device: IngestDevice, work: (tx: Tx) => Promise<void>): void {
    const writing = this.#db
      .transaction(work)
      .catch((error: unknown) => {
        const fields = { err: (error as Error).message, device: device.id };
        this.#log.warn(fields, "a contested connection could not be recorded");
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  async #writeTakeover(
    tx: Tx,
    device: IngestDevice,
    session: ClaimedSession,
    addresses: readonly [string, string],
  ): Promise<void> {
    const now = this.#clock.now();
    const isContested = isConflict(session, now.getTime());
    if (isContested && !(await claimConflict(tx, device.organizationId, device.id, now))) return;
    const { id: deviceId, organizationId, uid } = device;
    await auditTakeover(tx, { deviceId, organizationId, uid, epoch: session.epoch, isConflict: isContested }, now);
    if (!isContested) return;
    const event = sessionConflictEvent(observed(device, session.last_location, now.getTime()), addresses);
    await insertEvents(tx, [event], now.getTime());
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }
}

const observed = (device: IngestDevice, location: LastLocation | null, atMs: number) => ({
  hold: { device, deviceIdBytes: uuidBytes(device.id), organizationIdBytes: uuidBytes(device.organizationId) },
  id: uuidBytes(uuidV7(atMs)),
  atMs,
  location,
});
