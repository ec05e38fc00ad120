import type { GeofenceDetail } from "../api/types.ts";

export type Schedule = NonNullable<GeofenceDetail["schedule"]>;
export type ScheduleWindow = Schedule["windows"][number];

export const weekDays = [1, 2, 3, 4, 5, 6, 7] as const;

export const newWindow = (): ScheduleWindow => ({ days: [1, 2, 3, 4, 5], start: "08:00", end: "18:00" });

/** A field for times of day ends at 23:59, so midnight at the end of a day is shown as 00:00. */
export const shownEnd = (end: string): string => (end === "24:00" ? "00:00" : end);
export const storedEnd = (shown: string): string => (shown === "00:00" ? "24:00" : shown);

/** Adds or removes a day; the days stay in the order of the week. */
export function toggleDay({ days, ...rest }: ScheduleWindow, day: number): ScheduleWindow {
  const next = days.includes(day) ? days.filter((one) => one !== day) : [...days, day];
  return { ...rest, days: next.toSorted((a, b) => a - b) };
}

export type ScheduleProblem = "noDays" | "noTimes" | "sameTimes";

/** What the service would refuse, known before it is asked. */
export function problemOf({ days, start, end }: ScheduleWindow): ScheduleProblem | undefined {
  if (days.length === 0) return "noDays";
  if (start === "" || end === "") return "noTimes";
  return start === end ? "sameTimes" : undefined;
}

/** Days that follow each other as pairs of first and last: 1, 2, 3, 6 gives 1 to 3 and 6 to 6. */
export function dayRuns(days: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const day of days.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last[1] === day - 1) last[1] = day;
    else runs.push([day, day]);
  }
  return runs;
}

/** The first of January 2024 was a Monday. */
export const dayName = (day: number, locale: string, style: "short" | "long" = "short"): string =>
  new Intl.DateTimeFormat(locale, { weekday: style, timeZone: "UTC" }).format(Date.UTC(2024, 0, day));

/** "Mon–Fri 08:00–18:00; Sun 00:00–24:00". */
export function describeSchedule({ windows }: Schedule, locale: string): string {
  const daysOf = (days: readonly number[]): string =>
    dayRuns(days)
      .map(([first, last]) => {
        if (first === last) return dayName(first, locale);
        return `${dayName(first, locale)}${last === first + 1 ? ", " : "–"}${dayName(last, locale)}`;
      })
      .join(", ");
  return windows.map(({ days, start, end }) => `${daysOf(days)} ${start}–${end}`).join("; ");
}
