import { makeStore } from "../state/store.ts";
import { regionalLocale } from "./locale.ts";

/** Dates, numbers and ages the way the reader writes them. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The zone that the reader has chosen; null: that of the browser. */
export const readerZone = makeStore<string | null>(null);

const zoned = (timeZone: string | null = readerZone.get()): Intl.DateTimeFormatOptions =>
  timeZone === null ? {} : { timeZone };

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = regionalLocale() + JSON.stringify(options);
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(regionalLocale(), options);
    formats.set(key, found);
  }
  return found;
}

/** Date and time in the given zone, or the reader's own. */
export const showTime = (iso: string, timeZone?: string): string =>
  format({ dateStyle: "medium", timeStyle: "short", ...zoned(timeZone) }).format(new Date(iso));

export const showDate = (iso: string, timeZone?: string): string =>
  format({ dateStyle: "medium", ...zoned(timeZone) }).format(new Date(iso));

export const showClock = (iso: string, timeZone?: string): string =>
  format({ timeStyle: "short", ...zoned(timeZone) }).format(new Date(iso));

export const showNumber = (value: number, maxDigits = 1): string =>
  new Intl.NumberFormat(regionalLocale(), { maximumFractionDigits: maxDigits }).format(value);

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 minutes ago"; under a minute "now". */
export function showAge(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  const relative = new Intl.RelativeTimeFormat(regionalLocale(), { numeric: "auto" });
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : relative.format(0, "second");
}
