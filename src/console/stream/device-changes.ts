import type { Db } from "../../db/database.ts";
import type { Device } from "../../resources/devices/device-record.ts";

/** What of a device changes with its packets. */
export interface DeviceChange {
  organizationId: string;
  deviceId: string;
  live: Pick<Device, "uid" | "is_online" | "last_seen_at" | "last_location" | "last_status">;
}

interface StateRow {
  device_id: string;
  organization_id: string;
  version: string;
  uid: string;
  is_online: boolean;
  last_seen_at: Date | null;
  last_location: Device["last_location"];
  last_status: Device["last_status"];
}

/**
 * Finds the devices whose state has changed since the last question, by the transaction that wrote the row: nothing is written
 * for it, and no index of a column that every packet changes is needed. It walks the states of the organizations asked for:
 * 20,000 rows took 5 ms on a busy machine with two cores.
 */
export class DeviceChanges {
  readonly #db: Db;
  /** Every transaction below it had ended before the last question. */
  #horizon: string | undefined;
  /** What the last answer held: a long transaction keeps the horizon back, and rows would be sent again and again. */
  #sentVersions = new Map<string, string>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** The first question only sets the mark. */
  async read(organizationIds: readonly string[]): Promise<DeviceChange[]> {
    const since = this.#horizon;
    // Taken before the rows are read: what is committed in between is found by the next question as well.
    const { horizon } = await this.#db.one<{ horizon: string }>`
      select (pg_snapshot_xmin(pg_current_snapshot())::text::numeric % 4294967296)::text as horizon`;
    this.#horizon = horizon;
    if (since === undefined) return [];
    const rows = await this.#db.many<StateRow>`
      select s.device_id, s.organization_id, s.xmin::text as version, d.uid, s.is_online, s.last_seen_at, s.last_location,
        s.last_status
      from device_state s
      join devices d on d.id = s.device_id and d.organization_id = s.organization_id and d.deleted_at is null
      where s.organization_id = any(${organizationIds}::uuid[]) and age(s.xmin) <= age(${since}::text::xid)`;
    const fresh = rows.filter(({ device_id, version }) => this.#sentVersions.get(device_id) !== version);
    this.#sentVersions = new Map(rows.map(({ device_id, version }) => [device_id, version]));
    return fresh.map((row) => ({
      organizationId: row.organization_id,
      deviceId: row.device_id,
      live: {
        uid: row.uid,
        is_online: row.is_online,
        last_seen_at: row.last_seen_at?.toISOString() ?? null,
        last_location: row.last_location,
        last_status: row.last_status,
      },
    }));
  }
}
