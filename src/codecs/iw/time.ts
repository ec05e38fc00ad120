import type { IwSession } from "./fields.ts";

const MINUTE_MS = 60_000;

/** `yyyymmddhhmmss`, `yymmddhhmmss` or `yyyy-mm-dd hh:mm:ss`, read as UTC. Null for what is no time of the calendar. */
export function utcTimeOf(text: string | undefined): number | null {
  const match =
    /^(\d{4}|\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text ?? "") ??
    /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/.exec(text ?? "");
  if (!match) return null;
  const year = Number(match[1]) + (match[1]?.length === 2 ? 2000 : 0);
  const [month, day] = [Number(match[2]), Number(match[3])];
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  // To Date.UTC the first hundred years are those of the last century.
  if (year < 100 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null;
  const timeMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return new Date(timeMs).getUTCDate() === day ? timeMs : null;
}

/**
 * The papers do not say whether a watch writes these times in UTC or as on its dial. UTC, unless only the other reading is
 * within a quarter of an hour of now.
 */
export function dialTimeOf(text: string | undefined, session: IwSession): number | null {
  const utcMs = utcTimeOf(text);
  if (utcMs === null) return null;
  const localMs = utcMs - (session.device?.utcOffsetMinutes ?? 0) * MINUTE_MS;
  const isNow = (ms: number): boolean => Math.abs(ms - session.nowMs) <= 15 * MINUTE_MS;
  return !isNow(utcMs) && isNow(localMs) ? localMs : utcMs;
}

/** Seconds or milliseconds since 1970. */
export function unixTimeOf(text: string | undefined): number | null {
  const digits = text?.trim() ?? "";
  if (/^\d{10}$/.test(digits)) return Number(digits) * 1000;
  return /^\d{13}$/.test(digits) ? Number(digits) : null;
}
