import { binaryArray } from "../db/binary-writer.ts";
import { rawSql, type Sql, sql } from "../db/sql.ts";
import { uuidBytes } from "../lib/ids.ts";
import { blockBits, blocksPerMs } from "./lane-ids.ts";
import type { OutboundFact } from "./outbound-entry.ts";
import type { Lane } from "./outbound-lanes.ts";

/** A row that has no id yet. */
export interface UnnumberedRow {
  lane: Lane;
  fact: OutboundFact;
  /** The envelope of section 19.2 after its id. */
  rest: string;
}

/** Of one statement: in each of them a lane has one block of ids, which its rows fit into. */
export const maxRowsPerStatement = 2 ** (blockBits - 1);

const blockOf = (seq: string): Sql => rawSql(`(${seq} >> ${blockBits})`);
const firstOf = (block: Sql): Sql => sql`(${block} << ${rawSql(String(blockBits))})`;
const isUsedUp = sql`${blockOf("l.last_seq")} + 1 >= ${rawSql(String(blocksPerMs))}`;

/** The last four digits of an id that are its own, as they stand in it. */
function digitsOf(number: number): string {
  const digits = (0x10000 + number).toString(16);
  return `${digits.slice(1, 3)}-${digits.slice(3)}`;
}

interface Place {
  /** Which of the lanes, from 1. */
  index: number;
  /** In its block, from 1. */
  number: number;
}

function placesOf(rows: readonly UnnumberedRow[]): { places: Place[]; lanes: ReadonlyMap<Lane, Place> } {
  const lanes = new Map<Lane, Place>();
  const places = rows.map(({ lane }) => {
    const last = lanes.get(lane);
    const place = { index: last?.index ?? lanes.size + 1, number: (last?.number ?? 0) + 1 };
    lanes.set(lane, place);
    return place;
  });
  return { places, lanes };
}

/** The trace that a row belongs to; null: none. */
export type TraceOfFact = (fact: Pick<OutboundFact, "organizationId" | "deviceUid">) => string | null;

/**
 * Locks the lanes of the rows until the commit, in the order of their ids so that two writers cannot deadlock, gives each row the
 * next id of its lane, and writes it. This is one statement that needs no answer before the commit: while others wait for a lane,
 * nobody waits for this program.
 *
 * It takes a block of ids of each lane: the first of this millisecond or, while the clock stands or was set back, the next one of
 * the last millisecond. Ids of a lane therefore rise in the order of commits, and the number of a row in its block is known before
 * the lock: to make all of an id in the database costs as much as to write the row (measured).
 */
export function insertNumbered(rows: readonly UnnumberedRow[], nowMs: number, traceOf: TraceOfFact | null): Sql {
  const { places, lanes } = placesOf(rows);
  const keys = [...lanes.keys()];
  const integrations = binaryArray("uuid", keys, (writer, { integrationId }) => writer.uuid(uuidBytes(integrationId)));
  const organizations = binaryArray("uuid", keys, (writer, { organizationId }) =>
    writer.uuid(uuidBytes(organizationId)),
  );
  const counts = binaryArray("int8", [...lanes.values()], (writer, { number }) => writer.int8(number));
  const indexes = binaryArray("int2", places, (writer, { index }) => writer.int2(index));
  const digits = binaryArray("text", places, (writer, { number }) => writer.text(digitsOf(number)));
  const uids = binaryArray("text", rows, (writer, { fact }) => writer.text(fact.deviceUid));
  const types = binaryArray("text", rows, (writer, { fact }) => writer.text(fact.type));
  const times = binaryArray("timestamptz", rows, (writer, { fact }) => writer.timestamptz(fact.occurredAtMs));
  const rests = binaryArray("text", rows, (writer, { rest }) => writer.text(rest));
  const traces = traceOf && binaryArray("text", rows, (writer, { fact }) => writer.text(traceOf(fact)));
  return sql`
    with lane as materialized (
      select l.integration_id, n.count, n.index
      from outbound_lanes l
      join unnest(${integrations}::uuid[], ${organizations}::uuid[], ${counts}::int8[])
        with ordinality as n(integration_id, organization_id, count, index)
        on l.integration_id = n.integration_id and l.organization_id = n.organization_id
      order by l.integration_id for update of l
    ), taken as (
      update outbound_lanes l set
        last_ms = case when ${nowMs}::int8 > l.last_ms then ${nowMs}::int8 else l.last_ms + (${isUsedUp})::int end,
        last_seq = lane.count + case when ${nowMs}::int8 > l.last_ms or ${isUsedUp} then 0
          else ${firstOf(sql`(${blockOf("l.last_seq")} + 1)`)} end
      from lane where l.integration_id = lane.integration_id
      returning l.integration_id, l.organization_id, l.push_epoch, lane.index::int2 as index,
        lpad(to_hex(l.last_ms), 12, '0') as time, ${blockOf("l.last_seq")} as block, lpad(to_hex(l.lane), 8, '0') || '00' as tail
    ), opened as (
      select integration_id, organization_id, push_epoch, index, tail, substr(time, 1, 8) || '-' || substr(time, 9) || '-7'
        || lpad(to_hex(block >> 6), 3, '0') || '-' || to_hex(128 + (block & 63)) as head
      from taken
    ), numbered as (
      select o.*, r.*, o.head || r.digits || o.tail as id
      from (
        select unnest(${indexes}::int2[]) as lane_index, unnest(${digits}::text[]) as digits,
          unnest(${uids}::text[]) as device_uid, unnest(${types}::text[]) as type,
          unnest(${times}::timestamptz[]) as occurred_at, unnest(${rests}::text[]) as rest, unnest(${traces}::text[]) as trace
      ) r
      join opened o on o.index = r.lane_index
      offset 0
    )
    insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, push_epoch, body, trace)
    select integration_id, id::uuid, organization_id, device_uid, type, occurred_at, push_epoch, '{"id":"' || id || rest, trace
    from numbered`;
}
