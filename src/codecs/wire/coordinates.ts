/** Coordinates as trackers write them, to degrees with seven decimals (about a centimetre). */

/** `ddmm.mmmm` split into its parts; south and west are negative. */
export function fromMinutes(degrees: number, minutes: number, isNegative: boolean): number {
  const value = rounded(degrees + minutes / 60);
  return isNegative && value !== 0 ? -value : value;
}

/** A whole number of parts of a degree, as binary protocols send it; the parts are 1e6, 1e7 or 1,800,000. */
export const fromParts = (parts: number, partsPerDegree: number): number => rounded(parts / partsPerDegree);

export const isOnEarth = (lat: number, lng: number): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180;

/** A course in degrees from 0 to 359. Null for what is outside of 0 to 360. */
export function readHeading(degrees: number | null): number | null {
  return degrees === null || !(degrees >= 0 && degrees <= 360) ? null : Math.round(degrees) % 360;
}

/** Adding zero turns a negative zero into a plain one. */
const rounded = (degrees: number): number => Math.round(degrees * 1e7) / 1e7 + 0;
