export interface CsvRow {
  /** Of its first character, from 1. */
  line: number;
  cells: string[];
}

/** Rows of a comma separated text (RFC 4180): quoted cells may hold commas, quotes and line ends. Blank lines are left out. */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let line = 1;
  let cells: string[] = [];
  let cell = "";
  let rowLine = 1;
  let isQuoted = false;
  const endRow = (): void => {
    cells.push(cell);
    if (cells.length > 1 || cell.trim() !== "") rows.push({ line: rowLine, cells });
    cells = [];
    cell = "";
    rowLine = line;
  };
  for (let index = text.startsWith("\ufeff") ? 1 : 0; index < text.length; index++) {
    const char = text[index] as string;
    if (char === "\n") line++;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[index + 1] === '"') cell += text[++index];
      else isQuoted = false;
    } else if (char === '"' && cell === "") isQuoted = true;
    else if (char === ",") {
      cells.push(cell);
      cell = "";
    } else if (char === "\n") endRow();
    else if (char !== "\r" || text[index + 1] !== "\n") cell += char;
  }
  if (cell !== "" || cells.length > 0) endRow();
  return rows;
}

/** A spreadsheet would run a cell that begins so. */
const formulaStart = /^[=+\-@\t\r]/;
const guardedStart = /^'(?=[=+\-@\t\r])/;

/** One row of a file, with its line end. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => quoted(formulaStart.test(cell) ? `'${cell}` : cell)).join(",")}\r\n`;

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** A cell as it was before `csvLine`. */
export const withoutGuard = (cell: string): string => cell.replace(guardedStart, "");
