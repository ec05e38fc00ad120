import { makeStore } from "../state/store.ts";
import { regionalLocale } from "./locale.ts";

/** Dates, numbers and ages the way the reader writes them. Making a format costs more than to use it a hundred times. */
const formats = new Map<string, unknown>();

function kept<T>(key: string, make: (locale: string) => T): T {
  const locale = regionalLocale();
  const full = `${locale} ${key}`;
  let found = formats.get(full) as T | undefined;
  if (!found) {
    found = make(locale);
    formats.set(full, found);
  }
  return found;
}

/** The zone that the reader has chosen; null: that of the browser. */
export const chosenZone = makeStore<string | null>(null);

/** The zone in which times are shown and days begin. */
export const readerZone = (): string => chosenZone.get() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

const zoned = (timeZone: string | null = chosenZone.get()): Intl.DateTimeFormatOptions =>
  timeZone === null ? {} : { timeZone };

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  kept(`date ${JSON.stringify(options)}`, (locale) => new Intl.DateTimeFormat(locale, options));

const numberFormat = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  kept(`number ${JSON.stringify(options)}`, (locale) => new Intl.NumberFormat(locale, options));

/** Date and time in the given zone, or the reader's own. */
export const showTime = (iso: string, timeZone?: string): string =>
  format({ dateStyle: "medium", timeStyle: "short", ...zoned(timeZone) }).format(new Date(iso));

/** With seconds, where several things happen within a minute. */
export const showMoment = (iso: string): string =>
  format({ dateStyle: "medium", timeStyle: "medium", ...zoned() }).format(new Date(iso));

export const showDate = (iso: string, timeZone?: string): string =>
  format({ dateStyle: "medium", ...zoned(timeZone) }).format(new Date(iso));

export const showClock = (iso: string, timeZone?: string): string =>
  format({ timeStyle: "short", ...zoned(timeZone) }).format(new Date(iso));

export const showNumber = (value: number, maxDigits = 1): string =>
  numberFormat({ maximumFractionDigits: maxDigits }).format(value);

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 minutes ago"; under a minute "now". */
export function showAge(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  const relative = kept("age", (locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : relative.format(0, "second");
}

const steps: readonly [unit: string, size: number][] = [
  ["gigabyte", 1e9],
  ["megabyte", 1e6],
  ["kilobyte", 1e3],
  ["byte", 0],
];

/** "1.4 GB". */
export function showBytes(bytes: number): string {
  const [unit, size] = steps.find(([, least]) => bytes >= least) ?? ["byte", 0];
  return showUnit(bytes / (size || 1), unit);
}

/** "3 min": how long something takes or has waited. */
export function showSpan(seconds: number): string {
  const found = units.find(([, length]) => seconds >= length);
  return found ? showUnit(Math.floor(seconds / found[1]), found[0]) : showUnit(seconds, "second");
}

const showUnit = (value: number, unit: string): string =>
  numberFormat({
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(value);
