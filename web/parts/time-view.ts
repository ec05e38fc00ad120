/** A stretch of time that charts, track and events share. */
export interface TimeView {
  fromMs: number;
  toMs: number;
}

export const ranges = ["hours", "day", "week", "weeks"] as const;
export type Range = (typeof ranges)[number];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lengthMs: Readonly<Record<Range, number>> = { hours: 6 * hourMs, day: dayMs, week: 7 * dayMs, weeks: 28 * dayMs };
/** Nothing is measured so often that less would show more. */
const minViewMs = 5 * 60_000;

/** The calendar day of a time in a zone, as `YYYY-MM-DD`. */
export function dayOf(timeMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return parts.format(timeMs);
}

function offsetMs(timeMs: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(timeMs);
  const value = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const local = Date.UTC(
    value("year"),
    value("month") - 1,
    value("day"),
    value("hour"),
    value("minute"),
    value("second"),
  );
  return local - Math.floor(timeMs / 1000) * 1000;
}

/** When a calendar day begins in a zone. Where the clock skips midnight it is the first moment after it. */
export function startOfDay(day: string, timeZone: string): number {
  const utcMs = Date.parse(`${day}T00:00:00Z`);
  const guessMs = utcMs - offsetMs(utcMs, timeZone);
  return utcMs - offsetMs(guessMs, timeZone);
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * dayMs).toISOString().slice(0, 10);
}

/**
 * What a range shows that ends with the given day. The hours are the last ones before now or before the end of a past day; days
 * are whole calendar days, which have 23 or 25 hours when the clocks change.
 */
export function windowOf(range: Range, day: string, timeZone: string, nowMs: number): TimeView {
  const endMs = startOfDay(addDays(day, 1), timeZone);
  if (range === "hours") {
    const toMs = Math.min(endMs, nowMs);
    return { fromMs: toMs - lengthMs.hours, toMs };
  }
  const days = lengthMs[range] / dayMs;
  return { fromMs: startOfDay(addDays(day, 1 - days), timeZone), toMs: endMs };
}

/** By how many days a step back or forth moves. */
export const stepDays: Readonly<Record<Range, number>> = { hours: 1, day: 1, week: 7, weeks: 28 };

/** Moves a view into its bounds without changing its length, unless it is longer than they are. */
export function within(view: TimeView, bounds: TimeView): TimeView {
  const length = Math.min(view.toMs - view.fromMs, bounds.toMs - bounds.fromMs);
  const fromMs = Math.min(Math.max(view.fromMs, bounds.fromMs), bounds.toMs - length);
  return { fromMs, toMs: fromMs + length };
}

/** A factor below 1 shows less in more detail; the time at `aroundMs` stays where it is. */
export function zoom(view: TimeView, bounds: TimeView, factor: number, aroundMs: number): TimeView {
  const length = view.toMs - view.fromMs;
  const wanted = Math.max(minViewMs, length * factor);
  const share = (aroundMs - view.fromMs) / length;
  const fromMs = aroundMs - wanted * share;
  return within({ fromMs, toMs: fromMs + wanted }, bounds);
}

/** Moves by a share of what is shown: 0.25 is a quarter to the right. */
export function pan(view: TimeView, bounds: TimeView, share: number): TimeView {
  const moveMs = (view.toMs - view.fromMs) * share;
  return within({ fromMs: view.fromMs + moveMs, toMs: view.toMs + moveMs }, bounds);
}

/**
 * What one or two fingers do: the times under them follow them. Places are in pixels from the left edge of a chart of the given
 * width.
 */
export function viewAfterTouch(
  view: TimeView,
  bounds: TimeView,
  before: readonly number[],
  after: readonly number[],
  width: number,
): TimeView {
  const middle = (places: readonly number[]): number => places.reduce((sum, x) => sum + x, 0) / places.length;
  const spread = (places: readonly number[]): number => Math.abs((places[1] ?? 0) - (places[0] ?? 0));
  const length = view.toMs - view.fromMs;
  const minSpread = 10;
  const factor =
    after.length === 2 && before.length === 2
      ? Math.max(minSpread, spread(before)) / Math.max(minSpread, spread(after))
      : 1;
  const aroundMs = view.fromMs + (middle(before) / width) * length;
  const zoomed = factor === 1 ? view : zoom(view, bounds, factor, aroundMs);
  return pan(zoomed, bounds, (middle(before) - middle(after)) / width);
}

/** What a key does to a view, for those who use no mouse; undefined: nothing. */
export function viewAfterKey(key: string, view: TimeView, bounds: TimeView, cursorMs: number): TimeView | undefined {
  const middleMs = (view.fromMs + view.toMs) / 2;
  const aroundMs = cursorMs > view.fromMs && cursorMs < view.toMs ? cursorMs : middleMs;
  switch (key) {
    case "+":
    case "=":
      return zoom(view, bounds, 0.5, aroundMs);
    case "-":
      return zoom(view, bounds, 2, aroundMs);
    case "ArrowLeft":
      return pan(view, bounds, -0.25);
    case "ArrowRight":
      return pan(view, bounds, 0.25);
    case "0":
    case "Home":
      return bounds;
    default:
      return undefined;
  }
}
