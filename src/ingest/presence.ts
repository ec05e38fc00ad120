import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";

const batchSize = 1000;

/**
 * Devices that were silent for too long are offline (section 3.1): longer than the setting, and than three of the reporting
 * intervals that the device has acknowledged. A closed socket alone changes nothing. Any number of workers may sweep.
 * Candidates are read without a lock and the update looks again, so that a packet in between wins.
 */
export async function sweepSilentDevices(db: Database, clock: Clock, offlineAfterSeconds: number): Promise<number> {
  let total = 0;
  for (;;) {
    const now = clock.now();
    const seenBefore = new Date(now.getTime() - offlineAfterSeconds * 1000);
    const silent = await db.many<{ device_id: string }>`
      select device_id from device_state
      where is_online and last_seen_at < ${seenBefore}
        and extract(epoch from last_seen_at) + 3 * coalesce(report_interval_seconds, 0) < ${now.getTime() / 1000}::float8
      order by device_id limit ${batchSize}`;
    if (silent.length === 0) return total;
    total += await db.run`
      update device_state set is_online = false, status_changed_at = ${now}
      where device_id = any(${silent.map((row) => row.device_id)}::uuid[]) and is_online and last_seen_at < ${seenBefore}`;
    if (silent.length < batchSize) return total;
  }
}

/** Rows that only a retry of a batch could ask for. */
export const deleteOldBatches = (db: Database, before: Date): Promise<number> =>
  db.run`delete from ingest_batches where committed_at < ${before}`;
