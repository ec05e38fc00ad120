/** How far the clocks of IANA time zones are ahead of UTC. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Milliseconds ahead of UTC at an instant. Throws RangeError for a name the runtime does not know. */
function makeLookUp(timeZone: string): (atMs: number) => number {
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
  return (atMs) => {
    const secondMs = Math.floor(atMs / 1000) * 1000;
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(secondMs)) part[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - secondMs;
  };
}

const maxCachedHours = 256;

/**
 * The offset in milliseconds of one zone. Cached per hour of UTC, because a lookup costs some microseconds; hours in which the
 * clocks are moved are not cached. Throws RangeError for a name the runtime does not know.
 */
export function makeZoneOffset(timeZone: string): (atMs: number) => number {
  const lookUp = makeLookUp(timeZone);
  const cached = new Map<number, number>();
  return (atMs) => {
    const hour = Math.floor(atMs / hourMs);
    const known = cached.get(hour);
    if (known !== undefined) return known;
    const offsetMs = lookUp(hour * hourMs);
    if (offsetMs !== lookUp((hour + 1) * hourMs)) return lookUp(atMs);
    if (cached.size >= maxCachedHours) cached.clear();
    cached.set(hour, offsetMs);
    return offsetMs;
  };
}

/** Minutes east of UTC at an instant. Throws RangeError for a name the runtime does not know. */
export const zoneOffsetMinutes = (timeZone: string, atMs: number): number =>
  Math.trunc(makeLookUp(timeZone)(atMs) / minuteMs);

/** Offsets of many zones in minutes, 0 for a name the runtime does not know. Formats are kept: making one costs 50 us. */
export class ZoneOffsets {
  readonly #zones = new Map<string, (atMs: number) => number>();

  minutesAt(timeZone: string, atMs: number): number {
    let offset = this.#zones.get(timeZone);
    if (!offset) {
      offset = isZoneName(timeZone) ? makeZoneOffset(timeZone) : () => 0;
      this.#zones.set(timeZone, offset);
    }
    return Math.trunc(offset(atMs) / minuteMs);
  }
}

/** Newer Node versions also take offsets like "+02:00", which are no names: they know no summer time. */
export function isZoneName(text: string): boolean {
  if (!/^[a-z]/i.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

const maxDaysAhead = 370;

/** The first minute after an instant in which the zone has another offset; undefined when none is near, within a year. */
export function nextOffsetChange(timeZone: string, afterMs: number): number | undefined {
  const offsetAt = makeLookUp(timeZone);
  const before = offsetAt(afterMs);
  let sameMs = afterMs;
  for (let day = 1; day <= maxDaysAhead; day++) {
    let otherMs = afterMs + day * dayMs;
    if (offsetAt(otherMs) === before) {
      sameMs = otherMs;
      continue;
    }
    while (otherMs - sameMs > minuteMs) {
      const middleMs = Math.floor((sameMs + otherMs) / 2);
      if (offsetAt(middleMs) === before) sameMs = middleMs;
      else otherMs = middleMs;
    }
    return Math.floor(otherMs / minuteMs) * minuteMs;
  }
  return undefined;
}
