import type { Point } from "../../lib/geo.ts";

const unit = 1e5;

/**
 * The encoded polyline with precision 5: differences of rounded coordinates, five bits to a character from 63 on.
 * https://developers.google.com/maps/documentation/utilities/polylinealgorithm
 */
export function encodePolyline(positions: readonly Point[]): string {
  let text = "";
  let [lat, lng] = [0, 0];
  for (const position of positions) {
    const next = { lat: Math.round(position.lat * unit), lng: Math.round(position.lng * unit) };
    text += encodeNumber(next.lat - lat) + encodeNumber(next.lng - lng);
    ({ lat, lng } = next);
  }
  return text;
}

/** A full turn is 3.6e7 units, so the doubled value stays within the 32 bits of shifts. */
function encodeNumber(value: number): string {
  let rest = value < 0 ? ~(value << 1) : value << 1;
  let text = "";
  while (rest >= 0x20) {
    text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63);
    rest >>= 5;
  }
  return text + String.fromCharCode(rest + 63);
}
