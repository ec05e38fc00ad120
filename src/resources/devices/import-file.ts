import { lazyBody, makeValidator } from "../../http/validation.ts";
import { parseCsv, withoutGuard } from "../../lib/csv.ts";
import { ApiError, type FieldErrors } from "../../lib/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { DeviceRequest, type GivenFields, readFields } from "./device-fields.ts";

export const importColumns = ["uid", "device_model_slug", "name", "timezone", "tags", "terminal_id"] as const;
type Column = (typeof importColumns)[number];

/** What an exported list says beside, of how devices are doing; ignored, so that an exported file can be imported again. */
export const stateColumns = ["is_online", "last_seen_at", "battery", "created_at"] as const;

const maxLines = 10_000;

export interface ImportError {
  /** The header is line 1. */
  line: number;
  field: string;
  message: string;
}

export interface ImportLine {
  line: number;
  uid: string;
  given: GivenFields;
}

export interface ImportFile {
  lines: ImportLine[];
  errors: ImportError[];
}

/** Reads devices from a CSV file and checks what can be checked without the database. An empty cell says nothing of its field. */
export function readImportFile(text: string, catalog: Catalog): ImportFile {
  const [header, ...rows] = parseCsv(text);
  const columns = header?.cells.map((cell) => cell.trim()) ?? [];
  const errors = headerErrors(columns);
  if (errors.length > 0) return { lines: [], errors };
  if (rows.length > maxLines) {
    const { line } = rows[maxLines] ?? { line: maxLines + 2 };
    return { lines: [], errors: [{ line, field: "uid", message: `A file can have at most ${maxLines} devices.` }] };
  }
  const check = lazyBody(makeValidator(), DeviceRequest);
  const lines: ImportLine[] = [];
  const lineOfUid = new Map<string, number>();
  for (const { line, cells } of rows) {
    if (cells.length > columns.length) {
      errors.push({ line, field: "uid", message: "There are more cells than columns." });
      continue;
    }
    const record = recordOf(columns, cells);
    const found = errorsOf(() => {
      const body = check(record);
      lines.push({ line, uid: body.uid, given: readFields(body, catalog) });
    });
    errors.push(...found.map((error) => ({ line, ...error })));
    const earlier = record.uid === undefined ? undefined : lineOfUid.get(record.uid);
    if (earlier !== undefined) errors.push({ line, field: "uid", message: `Line ${earlier} has the same IMEI.` });
    else if (record.uid !== undefined) lineOfUid.set(record.uid, line);
  }
  return { lines, errors };
}

function headerErrors(columns: readonly string[]): ImportError[] {
  const known: readonly string[] = [...importColumns, ...stateColumns];
  const unknown = columns.filter((name) => !known.includes(name));
  const doubled = columns.filter((name, index) => columns.indexOf(name) < index);
  const problems = [
    ...unknown.map((name) => ({ field: name.slice(0, 100), message: `There is no column "${name.slice(0, 100)}".` })),
    ...doubled.map((name) => ({ field: name.slice(0, 100), message: "The column appears twice." })),
    ...(columns.includes("uid") ? [] : [{ field: "uid", message: "The column is missing." }]),
  ];
  return problems.slice(0, 20).map((problem) => ({ line: 1, ...problem }));
}

type CellRecord = Partial<Record<Exclude<Column, "tags">, string>> & { tags?: string[] };

function recordOf(columns: readonly string[], cells: readonly string[]): CellRecord {
  const given = columns.flatMap((column, index) => {
    const cell = withoutGuard(cells[index]?.trim() ?? "");
    return cell === "" || stateColumns.some((name) => name === column)
      ? []
      : [[column, column === "tags" ? tagsOf(cell) : cell] as const];
  });
  return Object.fromEntries(given) as CellRecord;
}

const tagsOf = (cell: string): string[] => cell.split(";").flatMap((tag) => tag.trim() || []);

function errorsOf(work: () => void): { field: string; message: string }[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const fields = (error.extra.errors ?? {}) as FieldErrors;
    return Object.entries(fields).flatMap(([field, messages]) => messages.map((message) => ({ field, message })));
  }
}
