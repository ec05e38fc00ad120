/** Reads an encoded polyline of precision 5, written from its published description and not from our encoder. */
export function decodePolyline(text: string): { lat: number; lng: number }[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const bits = character.charCodeAt(0) - 63;
    value += (bits % 32) * 2 ** shift;
    shift += 5;
    if (bits >= 32) continue;
    numbers.push(value % 2 === 1 ? -(value + 1) / 2 : value / 2);
    [value, shift] = [0, 0];
  }
  const positions: { lat: number; lng: number }[] = [];
  let [lat, lng] = [0, 0];
  for (let index = 0; index + 1 < numbers.length; index += 2) {
    lat += numbers[index] as number;
    lng += numbers[index + 1] as number;
    positions.push({ lat: lat / 1e5, lng: lng / 1e5 });
  }
  return positions;
}
