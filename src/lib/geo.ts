export interface Point {
  lat: number;
  lng: number;
}

export const earthRadiusM = 6_371_008.8;
const radians = Math.PI / 180;

/** Great-circle distance in metres. */
export function distanceM(a: Point, b: Point): number {
  const dLat = (b.lat - a.lat) * radians;
  const dLng = (b.lng - a.lng) * radians;
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * Math.sin(dLng / 2) ** 2;
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The same longitude, written so that it lies within half a turn of another: averages then work across the date line. */
export const lngNear = (lng: number, other: number): number => lng - 360 * Math.round((lng - other) / 360);
