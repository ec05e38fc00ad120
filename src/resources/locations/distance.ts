export interface Position {
  lat: number;
  lng: number;
}

const earthRadiusM = 6_371_008.8;
const radians = Math.PI / 180;

/** Great-circle distance (haversine, mean radius of the earth). */
export function distanceM(a: Position, b: Position): number {
  const sinLat = Math.sin(((b.lat - a.lat) * radians) / 2);
  const sinLng = Math.sin(((b.lng - a.lng) * radians) / 2);
  const h = sinLat * sinLat + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * sinLng * sinLng;
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The same longitude, written so that it lies within half a turn of another: averages then work across the date line. */
export const lngNear = (lng: number, other: number): number => lng - 360 * Math.round((lng - other) / 360);
