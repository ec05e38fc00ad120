import type { IwSession } from "./fields.ts";

const MINUTE_MS = 60_000;

/** `yyyymmddhhmmss`, `yymmddhhmmss` or `yyyy-mm-dd hh:mm:ss`, read as UTC. Null for what is no time of the calendar. */
export function utcTimeOf(text: string | undefined): number | null {
  const match =
    /^(\d{4}|\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text ?? "") ??
    /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/.exec(text ?? "");
  if (!match) return null;
  const [rawYear = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const year = match[1]?.length === 2 ? 2000 + rawYear : rawYear;
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isCalendarTime =
    time.getUTCFullYear() === year &&
    time.getUTCMonth() === month - 1 &&
    time.getUTCDate() === day &&
    time.getUTCHours() === hour &&
    time.getUTCMinutes() === minute &&
    time.getUTCSeconds() === second;
  return isCalendarTime ? time.getTime() : null;
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
