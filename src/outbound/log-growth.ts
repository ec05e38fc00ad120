import type { Db } from "../db/database.ts";
import { type LanePosition, laneIdAt } from "../outbox/lane-ids.ts";

interface LogEnd extends LanePosition {
  integrationId: string;
  appended: number;
}

/** Where logs end, and how many rows each has after the id; without an id it has none. One statement, so both are of one moment. */
const readEnds = (db: Db, integrationIds: readonly string[], after: readonly (string | null)[]): Promise<LogEnd[]> =>
  db.many<LogEnd>`
    select l.integration_id as "integrationId", l.lane, l.last_ms as "lastMs", l.last_seq as "lastSeq",
      (select count(*) from outbound_events e where e.integration_id = l.integration_id and e.id > known.id) as appended
    from unnest(${integrationIds}::uuid[], ${after}::uuid[]) as known(integration_id, id)
    join outbound_lanes l on l.integration_id = known.integration_id`;

/** How many rows logs get, whoever writes them. Ids are compared and no times: the clocks of writers differ. */
export class LogGrowth {
  #ends = new Map<string, string>();

  /** Rows since the last call, of logs that were named in it, too. */
  async measure(db: Db, integrationIds: readonly string[]): Promise<number> {
    const after = integrationIds.map((id) => this.#ends.get(id) ?? null);
    const ends = integrationIds.length === 0 ? [] : await readEnds(db, integrationIds, after);
    this.#ends = new Map(ends.map((end) => [end.integrationId, laneIdAt(end)]));
    return ends.reduce((sum, { appended }) => sum + appended, 0);
  }
}
