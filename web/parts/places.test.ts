import { describe, expect, it } from "vitest";
import { fencesAround } from "./places.ts";

describe("the fences around a place", () => {
  const home = { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 150 };
  const quarter = { name: "Quarter", center: { lat: 41.9, lng: 12.5 }, radius: 1500 };

  it("are named from the smallest to the largest", () => {
    expect(fencesAround([quarter, home], 41.901, 12.5)).toEqual(["Home", "Quarter"]);
    expect(fencesAround([quarter, home], 41.905, 12.5)).toEqual(["Quarter"]);
  });

  it("are measured in metres to the east as well, where degrees are shorter", () => {
    expect(fencesAround([home], 41.9, 12.5017)).toEqual(["Home"]);
    expect(fencesAround([home], 41.9, 12.502)).toEqual([]);
  });
});
