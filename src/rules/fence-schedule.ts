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
  const zoneOf = remembered(new Map<string, ZoneOffset>(), makeZoneOffset);
  const spansOf = remembered(new WeakMap<FenceSchedule, readonly Span[]>(), ({ windows }) => windows.map(toSpan));
  return (schedule, tsMs) => {
    if (schedule === null) return true;
    const spans = spansOf(schedule);
    const wallMs = tsMs + zoneOf(schedule.timezone)(tsMs);
    const dayNumber = Math.floor(wallMs / dayMs);
    return isWithin(spans, isoDay(dayNumber), wallMs - dayNumber * dayMs);
  };
}

function remembered<K, V extends object>(
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

/** What a zone's clocks are ahead of UTC, in milliseconds. */
type ZoneOffset = (tsMs: number) => number;

const mostHours = 256;

/** Per hour of UTC, because a look-up costs some microseconds; hours in which the clocks are moved are not remembered. */
function makeZoneOffset(timeZone: string): ZoneOffset {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const lookUp: ZoneOffset = (tsMs) => {
    const secondMs = Math.floor(tsMs / 1000) * 1000;
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(secondMs)) part[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - secondMs;
  };
  const hours = new Map<number, number>();
  return (tsMs) => {
    const hour = Math.floor(tsMs / hourMs);
    const remembered = hours.get(hour);
    if (remembered !== undefined) return remembered;
    const offsetMs = lookUp(hour * hourMs);
    if (offsetMs !== lookUp((hour + 1) * hourMs)) return lookUp(tsMs);
    if (hours.size >= mostHours) hours.clear();
    hours.set(hour, offsetMs);
    return offsetMs;
  };
}
