import { describe, expect, it } from "vitest";
import { distanceM } from "../../src/lib/geo.ts";
import { clampRadius, edgeOf, gripAt, placeAt } from "./circle-drawing.ts";

describe("drawing a circle", () => {
  it("has its handle on the circle, to the east", () => {
    const circle = { lat: 45.07, lng: 7.69, radiusM: 500 };
    const edge = edgeOf(circle);
    expect(edge.lat).toBe(circle.lat);
    expect(Math.abs(distanceM(circle, edge) - 500)).toBeLessThan(2);
  });

  it("takes hold of the handle, of the inside, or of nothing", () => {
    const [center, edge] = [
      { x: 100, y: 100 },
      { x: 160, y: 100 },
    ];
    expect(gripAt({ x: 155, y: 108 }, center, edge)).toBe("edge");
    expect(gripAt({ x: 100, y: 150 }, center, edge)).toBe("inside");
    expect(gripAt({ x: 100, y: 170 }, center, edge)).toBeUndefined();
  });

  it("moves a circle that is too small to be taken by its edge", () => {
    expect(gripAt({ x: 104, y: 100 }, { x: 100, y: 100 }, { x: 103, y: 100 })).toBe("inside");
  });

  it("keeps to radii and places that the service accepts", () => {
    expect([clampRadius(0.2), clampRadius(123.4), clampRadius(90_000)]).toEqual([1, 123, 50_000]);
    expect(placeAt(190.1234567, 91)).toEqual({ lng: -169.876543, lat: 90 });
    expect(placeAt(-190, -45)).toEqual({ lng: 170, lat: -45 });
  });
});
