import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import { notFound } from "../../lib/errors.ts";
import type { DeviceRow } from "../devices/device-store.ts";
import type { PartSize } from "./ecg-layout.ts";
import { type EcgRow, ecgColumns } from "./ecg-record.ts";

export const ecgList = defineList({
  kind: "page",
  ordering: ["ts", "duration_ms", "avg_hr"],
  defaultOrdering: "-ts",
  searches: "classification",
  filters: {},
});

const belongsTo = ({ id, organization_id }: DeviceRow) =>
  sql`r.device_id = ${id} and r.organization_id = ${organization_id}`;

export const listEcg = (
  db: Db,
  device: DeviceRow,
  query: ListQuery<(typeof ecgList)["filters"]>,
): Promise<ListPage<EcgRow>> =>
  sqlPage<EcgRow>(db, query, {
    select: ecgColumns,
    from: sql`ecg_recordings r`,
    where: [belongsTo(device)],
    search: sql`r.search`,
    ordering: {
      ts: { column: sql`r.ts` },
      duration_ms: { column: sql`r.duration_ms` },
      avg_hr: { column: sql`r.avg_hr`, nullable: true },
    },
    key: sql`r.id`,
  });

export async function getEcg(db: Db, device: DeviceRow, id: string): Promise<EcgRow> {
  const row = await db.maybeOne<EcgRow>(sql`
    select ${ecgColumns} from ecg_recordings r where ${belongsTo(device)} and r.id = ${id}`);
  if (!row) throw notFound();
  return row;
}

export interface EcgPartRow extends PartSize {
  /** Signed 16-bit big-endian. */
  samples: Buffer;
}

/** All of a recording: at most 4 MB, the bound under which parts are taken. */
export const readEcgParts = (db: Db, device: DeviceRow, recordingId: string): Promise<EcgPartRow[]> =>
  db.many<EcgPartRow>`
    select lead, sequence, sample_count as "sampleCount", samples from ecg_parts
    where device_id = ${device.id} and recording_id = ${recordingId} and organization_id = ${device.organization_id}
    order by lead, sequence`;
