import { earthRadiusM, type Point } from "../lib/geo.ts";

/** Degrees; x is the longitude, y the latitude. */
export interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

const degrees = 180 / Math.PI;
/** About a centimetre, so that rounding loses nobody at the edge. */
const slack = 1e-7;

/** Boxes that hold the circle: one, or one on each side of the date line. With a pole in it, the circle has all longitudes. */
export function boxesAround({ lat, lng }: Point, distanceM: number): Box[] {
  const angle = distanceM / earthRadiusM;
  const height = angle * degrees + slack;
  const [minY, maxY] = [Math.max(-90, lat - height), Math.min(90, lat + height)];
  if (minY === -90 || maxY === 90) return [{ minX: -180, minY, maxX: 180, maxY }];
  // Where meridians touch the circle, not where its parallel crosses it: those points are nearer to the pole.
  const width = Math.asin(Math.min(1, Math.sin(angle) / Math.cos(lat / degrees))) * degrees + slack;
  const [minX, maxX] = [lng - width, lng + width];
  if (width >= 180) return [{ minX: -180, minY, maxX: 180, maxY }];
  if (minX < -180) return [part(-180, maxX), part(minX + 360, 180)];
  if (maxX > 180) return [part(minX, 180), part(-180, maxX - 360)];
  return [part(minX, maxX)];

  function part(fromX: number, toX: number): Box {
    return { minX: fromX, minY, maxX: toX, maxY };
  }
}
