import { Readable } from "node:stream";
import type { Db } from "../../db/database.ts";
import { allOf, sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { csvLine } from "../../lib/csv.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import { type DeviceRow, deviceColumns, deviceTables } from "../../resources/devices/device-record.ts";
import { importColumns, stateColumns } from "../../resources/devices/import-file.ts";
import { type DeviceSearch, searchConditions } from "./device-search.ts";

const rowsAtOnce = 2000;

/** The list as a file, in the order of the IMEIs, read in pieces: its size does not matter. The import takes it back. */
export const exportDevices = (
  db: Db,
  principal: Principal,
  query: DeviceSearch,
  catalog: Catalog,
  now: Date,
): Readable => Readable.from(linesOf(db, principal, query, catalog, now));

async function* linesOf(
  db: Db,
  principal: Principal,
  query: DeviceSearch,
  catalog: Catalog,
  now: Date,
): AsyncGenerator<string> {
  const where = searchConditions(principal, query, catalog, now);
  yield csvLine([...importColumns, ...stateColumns]);
  for (let after = ""; ; ) {
    const rows = await db.many<DeviceRow>(sql`
      select ${deviceColumns} from ${deviceTables} where ${allOf([...where, sql`d.uid > ${after}`])}
      order by d.uid limit ${rowsAtOnce}`);
    if (rows.length > 0) yield rows.map((row) => csvLine(cellsOf(row))).join("");
    if (rows.length < rowsAtOnce) return;
    after = (rows.at(-1) as DeviceRow).uid;
  }
}

const cellsOf = (row: DeviceRow): string[] => [
  row.uid,
  row.device_model_slug,
  row.name,
  row.timezone,
  row.tags.join(";"),
  row.terminal_id ?? "",
  String(row.is_online),
  row.last_seen_at?.toISOString() ?? "",
  String(row.last_status.bat?.value ?? ""),
  row.created_at.toISOString(),
];
