import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePolyline } from "../../../test/support/polyline.ts";
import { encodePolyline } from "./polyline.ts";

const positions = fc.array(
  fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
  { maxLength: 50 },
);

describe("the encoded polyline", () => {
  it("is that of the published example", () => {
    const example = [
      { lat: 38.5, lng: -120.2 },
      { lat: 40.7, lng: -120.95 },
      { lat: 43.252, lng: -126.453 },
    ];
    expect(encodePolyline(example)).toBe("_p~iF~ps|U_ulLnnqC_mqNvxq`@");
    expect(encodePolyline([])).toBe("");
  });

  it("decodes to the positions, rounded to five digits", () => {
    fc.assert(
      fc.property(positions, (given) => {
        const decoded = decodePolyline(encodePolyline(given));
        expect(decoded).toHaveLength(given.length);
        for (const [index, { lat, lng }] of decoded.entries()) {
          expect(Math.abs(lat - given[index]!.lat)).toBeLessThanOrEqual(0.500001e-5);
          expect(Math.abs(lng - given[index]!.lng)).toBeLessThanOrEqual(0.500001e-5);
        }
      }),
    );
  });
});
