import type { IwSession } from "./fields.ts";

const MINUTE_MS = 60_000;

/** `yyyymmddhhmmss`, `yymmddhhmmss` or `yyyy-mm-dd hh:mm:ss`, read as UTC. Null for what is no time of the calendar. */
export function utcTimeOf(text: string | undefined): number | null {
  const match =
    /^(\d{4}|\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text ?? "") ??
    /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/.exec(text ?? "");
  if (!match) return null;
  const year = Number(match[1]) + (match[1]?.length === 2 ? 2000 : 0);
  const date = Number(`${match[2]}${match[3]}`);
  return timeMsOf(year, date, Number(`${match[4]}${match[5]}${match[6]}`));
}

/** `yymmdd` and `hhmmss` as numbers, read as UTC. Null for what is no time of the calendar. */
export function utcTimeOfDigits(date: number, time: number): number | null {
  return timeMsOf(2000 + Math.floor(date / 10_000), date % 10_000, time);
}

/** The date is `mmdd`, the time `hhmmss`. */
function timeMsOf(year: number, date: number, time: number): number | null {
  const [month, day] = [Math.floor(date / 100), date % 100];
  const [hour, minute, second] = [Math.floor(time / 10_000), Math.floor(time / 100) % 100, time % 100];
  // To Date.UTC the first hundred years are those of the last century.
  if (year < 100 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return null;
  if (day < 1 || day > daysIn(year, month)) return null;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
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
