import { MalformedFrame } from "../malformed-frame.ts";
import { readWholeNumber } from "../wire/numbers.ts";

/** A text report cut into its fields: `+RESP:GTFRI,<version>,<id>,<name>,…,<send time>,<count>$`. */
export interface Report {
  kind: "RESP" | "BUFF" | "ACK";
  /** Without its `GT`. */
  word: string;
  /** Six or ten hexadecimal digits; the first two or six tell the model. */
  version: string;
  id: string;
  /** All fields, counted from the head as 0: positions in the papers can be used as they are. */
  fields: readonly string[];
  sentAtMs: number | null;
  /** Four hexadecimal digits that count the reports of the device. */
  count: string;
}

const idPattern = /^(\d{15}|[\da-f]{14})$/i;

export function readReport(raw: Buffer): Report {
  const fields = raw
    .toString("latin1")
    .replace(/[$\0]$/, "")
    .split(",");
  const [, kind, word] = /^\+(RESP|BUFF|ACK):GT([A-Z\d]{3,5})$/.exec(fields[0] ?? "") ?? [];
  if (kind === undefined || word === undefined) throw new MalformedFrame("report without a name");
  // Reports of the GT300 have no version.
  const version = idPattern.test(fields[1] ?? "") && !idPattern.test(fields[2] ?? "") ? "" : (fields[1] ?? "");
  const id = (version === "" ? fields[1] : fields[2]) ?? "";
  if (!idPattern.test(id)) throw new MalformedFrame("report without an id");
  return {
    kind: kind as Report["kind"],
    word,
    version: version.toUpperCase(),
    id: id.toUpperCase(),
    fields,
    sentAtMs: readTime(fields.at(-2)),
    count: /^[\da-f]{4}$/i.test(fields.at(-1) ?? "") ? (fields.at(-1) as string) : "",
  };
}

/** `yyyymmddhhmmss`, in UTC. */
export function readTime(field: string | undefined): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(field ?? "");
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return utcTime(year, month, day, hour, minute, second);
}

/** Null for what is no day or no time of day. */
export function utcTime(year: number, month: number, day: number, hour: number, minute: number, second: number) {
  if (year < 1980 || hour > 23 || minute > 59 || second > 59) return null;
  const timeMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(timeMs);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? timeMs : null;
}

/** A field that can only be a percentage. */
export function readPercent(field: string | undefined): number | null {
  const number = /^\d{1,3}$/.test(field ?? "") ? readWholeNumber(field) : null;
  return number === null || number > 100 ? null : number;
}
