import { makeZoneOffset } from "../lib/zone-offset.ts";

/** As stored with a geofence (section 10). */
export interface FenceSchedule {
  timezone: string;
  windows: readonly FenceWindow[];
}

export interface FenceWindow {
  /** ISO: 1 is Monday, 7 is Sunday. */
  days: readonly number[];
  /** `HH:MM`. */
  start: string;
  /** `HH:MM`, itself no longer within; `24:00` is the end of the day; before `start`: of the next day. */
  end: string;
}

/** True within a window by the clocks on the wall of its zone; null is always. */
export type ScheduleCheck = (schedule: FenceSchedule | null, tsMs: number) => boolean;

interface Span {
  /** By the ISO day. */
  days: readonly boolean[];
  startMs: number;
  endMs: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Remembers what it has learned of zones and schedules, so that a check costs less than a microsecond. */
export function makeScheduleCheck(): ScheduleCheck {
  const zoneOf = cached(new Map<string, (tsMs: number) => number>(), makeZoneOffset);
  const spansOf = cached(new WeakMap<FenceSchedule, readonly Span[]>(), ({ windows }) => windows.map(toSpan));
  return (schedule, tsMs) => {
    if (schedule === null) return true;
    const spans = spansOf(schedule);
    const wallMs = tsMs + zoneOf(schedule.timezone)(tsMs);
    const dayNumber = Math.floor(wallMs / dayMs);
    return isWithin(spans, isoDay(dayNumber), wallMs - dayNumber * dayMs);
  };
}

function cached<K, V extends object>(
  known: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  make: (key: K) => V,
): (key: K) => V {
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** A window over midnight belongs to the day of its start. */
const isWithin = (spans: readonly Span[], today: number, timeMs: number): boolean =>
  spans.some(({ days, startMs, endMs }) => {
    if (days[today] && timeMs >= startMs && (timeMs < endMs || endMs < startMs)) return true;
    return endMs < startMs && timeMs < endMs && days[today === 1 ? 7 : today - 1] === true;
  });

/** 1 January 1970 was a Thursday. */
const isoDay = (dayNumber: number): number => ((((dayNumber + 3) % 7) + 7) % 7) + 1;

const toSpan = ({ days, start, end }: FenceWindow): Span => ({
  days: Array.from({ length: 8 }, (_, day) => days.includes(day)),
  startMs: toMs(start),
  endMs: toMs(end),
});

function toMs(time: string): number {
  const [hours, minutes] = time.split(":");
  return Number(hours) * hourMs + Number(minutes) * minuteMs;
}
