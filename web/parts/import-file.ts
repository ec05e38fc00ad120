import { parseCsv } from "../../src/lib/csv.ts";

/** What the service takes of a file. */
export const maxImportBytes = 8 * 1024 * 1024;

/** A file to begin with: the columns, and two lines that show how they are filled. */
export const importTemplate = [
  "uid,device_model_slug,name,timezone,tags,terminal_id",
  "490154203237518,iw-h10,Watch 12,Europe/Rome,ward 3;pilot,",
  "356938035643809,watch-generic,Watch 13,,ward 3,",
  "",
].join("\r\n");

export const templateAddress = `data:text/csv;charset=utf-8,${encodeURIComponent(importTemplate)}`;

export interface FilePreview {
  columns: string[];
  /** The first lines, as they were read. */
  rows: { line: number; cells: string[] }[];
  /** Of the whole file, without the header. */
  lineCount: number;
  /** The cell that a message is about; undefined where there is none. */
  cellAt(line: number, field: string): string | undefined;
}

const shownRows = 5;

/** Reads a file as the service does, to show what stands where. */
export function previewFile(text: string): FilePreview {
  const [header, ...rows] = parseCsv(text);
  const columns = header?.cells.map((cell) => cell.trim()) ?? [];
  const byLine = new Map(rows.map((row) => [row.line, row.cells]));
  return {
    columns,
    rows: rows.slice(0, shownRows),
    lineCount: rows.length,
    cellAt: (line, field) => byLine.get(line)?.[columns.indexOf(field.split(".")[0] ?? field)],
  };
}
