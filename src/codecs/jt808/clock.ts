import { readBcd } from "../wire/bcd.ts";

/** Six bytes `yymmddhhmmss` of a clock that is this many minutes ahead of UTC. Null: no digits, or no such time. */
export function readTime(bytes: Uint8Array, offsetMinutes: number): number | null {
  const digits = readBcd(bytes);
  if (digits === undefined || digits.length !== 12) return null;
  const [year = 0, month = 0, ...clock] = (digits.match(/../g) ?? []).map(Number);
  return timeOf(2000 + year, month, clock, offsetMinutes);
}

/** `ddmmyyhhmmss` in UTC, as locks send it. */
export function readLockTime(bytes: Uint8Array): number | null {
  const [day = 0, month = 0, year = 0, ...clock] = ((readBcd(bytes) ?? "").match(/../g) ?? []).map(Number);
  return timeOf(2000 + year, month, [day, ...clock], 0);
}

function timeOf(year: number, month: number, clock: readonly number[], offsetMinutes: number): number | null {
  const [day = 0, hour = 0, minute = 0, second = 0] = clock;
  const isTime = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60;
  return isTime ? Date.UTC(year, month - 1, day, hour, minute, second) - offsetMinutes * 60_000 : null;
}

/** `UTC-04:00`, as some cameras name the zone of their clock. Null: something else. */
export function readZone(text: string): number | null {
  const [, sign, hours, minutes] = /^UTC([+-])(\d\d):(\d\d)$/.exec(text) ?? [];
  if (sign === undefined) return null;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
