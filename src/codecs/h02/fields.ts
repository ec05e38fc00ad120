import { fromMinutes } from "../wire/coordinates.ts";
import { readNumber } from "../wire/numbers.ts";

/** Single values as the text frames and the binary ones spell them. */

/** `hhmmss` and `ddmmyy`, UTC. Null for what is empty or no time. */
export function readTime(time: string | undefined, date: string | undefined): number | null {
  const digits = /^(\d\d)(\d\d)(\d\d) (\d\d)(\d\d)(\d\d)$/.exec(`${time?.trim()} ${date?.trim()}`);
  if (digits === null) return null;
  const [hour = 0, minute = 0, second = 0, day = 0, month = 0, year = 0] = digits.slice(1).map(Number);
  if (hour > 23 || minute > 59 || second > 59 || day < 1 || day > 31 || month < 1 || month > 12) return null;
  return Date.UTC(2000 + year, month - 1, day, hour, minute, second);
}

/**
 * Degrees and minutes: `ddmm.mmmm` with any number of digits for the degrees, `-dd-mm.mmmm`, or without a dot, where the last
 * four digits are decimals of the minutes.
 */
export function readCoordinate(text: string | undefined, hemisphere: string | undefined): number | null {
  const digits = text?.trim() ?? "";
  const match =
    /^-?(\d{1,3})-(\d{1,2}\.\d{1,8})$/.exec(digits) ??
    /^(\d{0,3}?)(\d{1,2}\.\d{1,8})$/.exec(digits) ??
    /^(\d{1,3})(\d{6})$/.exec(digits);
  if (match === null) return null;
  const [, degrees = "", minuteDigits = ""] = match;
  const minutes = minuteDigits.includes(".") ? Number(minuteDigits) : Number(minuteDigits) / 10_000;
  const side = hemisphere?.trim().toUpperCase();
  return minutes < 60 ? fromMinutes(Number(degrees), minutes, side === "S" || side === "W") : null;
}

export const kmhOfKnots = (knots: number | null): number | null =>
  knots === null || knots < 0 ? null : Math.round(knots * 185.2) / 100;

/** Six steps, or percent. Zero is no reading. */
export function batteryOf(value: number | null): number | null {
  if (value === null || value < 1 || value > 100)
    return value !== null && value >= 0xf1 && value <= 0xf6 ? batteryOf(value - 0xf0) : null;
  return value <= 3 ? (value - 1) * 10 : value <= 6 ? (value - 1) * 20 : value;
}

/** The level of the modem, or percent. */
export function signalOf(text: string | undefined): number | null {
  const value = readNumber(text);
  if (value === null || value < 0 || value > 100 || value === 99) return null;
  return value <= 31 ? value : Math.round((value * 31) / 100);
}

/** Digits of the SIM, without what fills it up. */
export function readIccid(text: string | undefined): string | undefined {
  return /^(\d{18,20})[?F]?$/i.exec(text?.trim() ?? "")?.[1];
}
