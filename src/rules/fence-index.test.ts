import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distanceM, type Point } from "../lib/geo.ts";
import { bandM, type Fence } from "./fence.ts";
import { boxesAround } from "./fence-box.ts";
import { FenceIndex, type IndexedFence } from "./fence-index.ts";

const fence = (given: Partial<IndexedFence>): IndexedFence => ({
  id: "fence",
  name: "Fence",
  scope: "org",
  lat: 0,
  lng: 0,
  radiusM: 100,
  triggerOnEnter: true,
  triggerOnExit: true,
  triggerOnDwell: false,
  dwellThresholdSeconds: null,
  schedule: null,
  revision: "1",
  sinceVersion: 0,
  changedMs: 0,
  userId: null,
  ...given,
});
const ids = (fences: Iterable<Fence>): string[] => [...fences].map(({ id }) => id).sort();
/** The worst accuracy that counts is the radius. */
const couldConcern = (one: Fence, place: Point): boolean =>
  distanceM(one, place) <= one.radiusM + bandM(one.radiusM, one.radiusM);

// Places of this world, with more of them where longitudes are strange.
const anyLat = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.double({ min: 89.2, max: 90, noNaN: true }),
  fc.double({ min: -90, max: -89.2, noNaN: true }),
  fc.constantFrom(0, 90, -90, 89.9999),
);
const anyLng = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.double({ min: 179.5, max: 180, noNaN: true }),
  fc.double({ min: -180, max: -179.5, noNaN: true }),
  fc.constantFrom(0, 180, -180),
);
const anyCentre = fc.record({ lat: anyLat, lng: anyLng });
const anyRadius = fc.oneof(fc.double({ min: 0.1, max: 50_000, noNaN: true }), fc.constantFrom(1, 200, 50_000));

/** So far from a place in some direction, on the sphere. */
function moved({ lat, lng }: Point, metres: number, bearing: number): Point {
  const radians = Math.PI / 180;
  const angle = metres / 6_371_008.8;
  const [sinLat, cosLat] = [Math.sin(lat * radians), Math.cos(lat * radians)];
  const toSin = sinLat * Math.cos(angle) + cosLat * Math.sin(angle) * Math.cos(bearing);
  const turn = Math.atan2(Math.sin(bearing) * Math.sin(angle) * cosLat, Math.cos(angle) - sinLat * toSin);
  const toLng = lng + turn / radians;
  return {
    lat: Math.asin(Math.max(-1, Math.min(1, toSin))) / radians,
    lng: ((((toLng + 180) % 360) + 360) % 360) - 180,
  };
}

describe("the index", () => {
  it("finds every fence that a place could concern, at the date line and the poles too", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ centre: anyCentre, radiusM: anyRadius }), { minLength: 1, maxLength: 12 }),
        fc.array(
          fc.record({
            fence: fc.nat(11),
            far: fc.double({ min: 0, max: 2.2, noNaN: true }),
            bearing: fc.double({ min: 0, max: 6.28, noNaN: true }),
          }),
          { maxLength: 12 },
        ),
        anyCentre,
        (shapes, walks, elsewhere) => {
          const fences = shapes.map(({ centre, radiusM }, id) => fence({ id: String(id), ...centre, radiusM }));
          const index = new FenceIndex();
          index.load(fences);
          const places = walks.map(({ fence, far, bearing }) => {
            const near = fences[fence % fences.length] as IndexedFence;
            return moved(near, near.radiusM * far, bearing);
          });
          for (const place of [...places, ...fences, elsewhere]) {
            const found = ids(index.near("device", [], place));
            expect(found).toEqual([...new Set(found)]);
            expect(found).toEqual(expect.arrayContaining(ids(fences.filter((one) => couldConcern(one, place)))));
            const farAway = fences.filter((one) => Math.abs(one.lat - place.lat) > 1);
            expect(found.filter((id) => farAway.some((one) => one.id === id))).toEqual([]);
          }
        },
      ),
      { numRuns: 120 },
    );
  });

  it("has boxes that are not much larger than their circles", () => {
    const [box] = boxesAround({ lat: 60, lng: 10 }, 1000);
    expect(box?.maxY).toBeCloseTo(60.009, 3);
    expect(box?.maxX).toBeCloseTo(10.018, 3);
    expect(boxesAround({ lat: 0, lng: 180 }, 1000)).toHaveLength(2);
    expect(boxesAround({ lat: 89.999, lng: 5 }, 1000)).toMatchObject([{ minX: -180, maxX: 180, maxY: 90 }]);
  });

  it("knows what is added, replaced and removed", () => {
    const step = fc.record({ id: fc.nat(7), remove: fc.boolean(), centre: anyCentre, radiusM: anyRadius });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const index = new FenceIndex();
        const known = new Map<string, IndexedFence>();
        for (const { id, remove, centre, radiusM } of steps) {
          const fresh = fence({ id: String(id), ...centre, radiusM });
          if (remove) index.remove(fresh.id);
          else index.put(fresh);
          if (remove) known.delete(fresh.id);
          else known.set(fresh.id, fresh);
          expect(index.size).toBe(known.size);
          for (const { centre: place } of steps) {
            const found = index.near("device", [], place);
            expect(found.every((one) => known.get(one.id) === one)).toBe(true);
            const wanted = ids([...known.values()].filter((one) => couldConcern(one, place)));
            expect(ids(found)).toEqual(expect.arrayContaining(wanted));
            expect(new Set(found).size).toBe(found.length);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("fences that are not of the whole organization", () => {
  const index = new FenceIndex();
  index.version = 7;
  index.load([
    fence({ id: "linked", scope: "device", lat: 80 }),
    fence({ id: "of ann", scope: "user", userId: "ann", lat: 80 }),
    fence({ id: "everyone", scope: "org", lat: 10 }),
  ]);
  index.link("linked", "watch", "then");
  const ann = [{ userId: "ann", revision: "may" }];
  const here = { lat: 0, lng: 0 };

  it("are found by whom they belong to, wherever the device is", () => {
    expect(ids(index.near("watch", ann, here))).toEqual(["linked", "of ann"]);
    expect(ids(index.near("watch", [], here))).toEqual(["linked"]);
    expect(ids(index.near("other", [{ userId: "bob", revision: "may" }], { lat: 10, lng: 0 }))).toEqual(["everyone"]);
  });

  it("have a revision that changes with the link or the assignment", () => {
    const source = index.sourceFor("watch", ann);
    expect(source.version).toBe(7);
    expect(["linked", "of ann", "everyone"].map((id) => source.find(id)?.revision)).toEqual(["1/then", "1/may", "1"]);
    expect(index.find("watch", [], "of ann")).toBeUndefined();
    expect(index.find("other", ann, "linked")).toBeUndefined();
    index.link("linked", "watch", "now");
    expect(index.find("watch", [], "linked")?.revision).toBe("1/now");
  });

  it("disappear with their links, and are found again only when linked again", () => {
    const own = new FenceIndex();
    const linked = fence({ id: "linked", scope: "device" });
    own.link("linked", "watch", "1");
    expect(own.near("watch", [], here)).toEqual([]);
    own.put(linked);
    own.put({ ...linked, name: "Renamed" });
    expect(own.near("watch", [], here).map(({ name }) => name)).toEqual(["Renamed"]);
    expect([...own.devicesOf("linked")]).toEqual(["watch"]);
    own.remove("linked");
    own.put(linked);
    expect(own.near("watch", [], here)).toEqual([]);
    own.link("linked", "watch", "2");
    own.unlink("linked", "watch");
    own.unlink("linked", "never linked");
    expect(own.near("watch", [], here)).toEqual([]);
  });

  it("leave their user when they are replaced or removed", () => {
    const own = new FenceIndex();
    own.put(fence({ id: "one", scope: "user", userId: "ann" }));
    own.remove("one");
    own.remove("never there");
    expect(own.near("watch", ann, here)).toEqual([]);
    expect(own.size).toBe(0);
  });
});
