export interface Point {
  lat: number;
  lng: number;
}

const metresPerDegree = 111_320;
const radians = Math.PI / 180;

/** A city is small: a flat piece of ground is exact to a few centimetres per kilometre. */
export const moved = (from: Point, eastM: number, northM: number): Point => ({
  lat: from.lat + northM / metresPerDegree,
  lng: from.lng + eastM / (metresPerDegree * Math.cos(from.lat * radians)),
});

/** East and north from one point to another, in metres. */
export const vectorM = (from: Point, to: Point): { eastM: number; northM: number } => ({
  eastM: (to.lng - from.lng) * metresPerDegree * Math.cos(from.lat * radians),
  northM: (to.lat - from.lat) * metresPerDegree,
});

export function distanceM(from: Point, to: Point): number {
  const { eastM, northM } = vectorM(from, to);
  return Math.hypot(eastM, northM);
}

/** Degrees clockwise from north, 0 up to 360. */
export function bearing(from: Point, to: Point): number {
  const { eastM, northM } = vectorM(from, to);
  return (Math.atan2(eastM, northM) / radians + 360) % 360;
}
