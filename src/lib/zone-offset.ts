const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });

/** Minutes east of UTC in an IANA zone at an instant. Throws RangeError for a name the runtime does not know. */
export const zoneOffsetMinutes = (timeZone: string, atMs: number): number => offsetAt(formatOf(timeZone), atMs);

function offsetAt(format: Intl.DateTimeFormat, atMs: number): number {
  const name = format.formatToParts(atMs).find((part) => part.type === "timeZoneName")?.value ?? "";
  const match = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name);
  if (!match) throw new RangeError(`No offset for ${format.resolvedOptions().timeZone}`);
  const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
  return match[1] === "-" ? -minutes : minutes;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
const daysAhead = 370;

/** The first minute after an instant in which the zone has another offset; undefined when none is near, within a year. */
export function nextOffsetChange(timeZone: string, afterMs: number): number | undefined {
  const format = formatOf(timeZone);
  const before = offsetAt(format, afterMs);
  let sameMs = afterMs;
  for (let day = 1; day <= daysAhead; day++) {
    let otherMs = afterMs + day * dayMs;
    if (offsetAt(format, otherMs) === before) {
      sameMs = otherMs;
      continue;
    }
    while (otherMs - sameMs > minuteMs) {
      const middleMs = Math.floor((sameMs + otherMs) / 2);
      if (offsetAt(format, middleMs) === before) sameMs = middleMs;
      else otherMs = middleMs;
    }
    return Math.floor(otherMs / minuteMs) * minuteMs;
  }
  return undefined;
}
