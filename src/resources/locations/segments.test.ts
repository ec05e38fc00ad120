import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePolyline } from "../../../test/support/polyline.ts";
import { distanceM, type Point } from "../../lib/geo.ts";
import { type MovingSegment, type Segment, type StoppedSegment, segmentTrack, type TrackPoint } from "./segments.ts";

const startMs = Date.parse("2026-03-01T00:00:00.000Z");
const dayMs = 86_400_000;
const home = { lat: 41.9, lng: 12.5 };
const iso = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString();

/** So many meters east and north of home. */
const away = (eastM: number, northM = 0): Point => ({
  lat: home.lat + northM / 111_195,
  lng: home.lng + eastM / (111_195 * Math.cos((home.lat * Math.PI) / 180)),
});

const point = (seconds: number, position: Point, more: Partial<TrackPoint> = {}): TrackPoint => ({
  tsMs: startMs + seconds * 1000,
  ...position,
  accuracyM: null,
  speedKmh: null,
  address: null,
  ...more,
});

/** A point every so many seconds, at the meters east of home that a function of the time says. */
const track = (from: number, to: number, every: number, eastM: (seconds: number) => number): TrackPoint[] =>
  Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) => {
    const seconds = from + index * every;
    return point(seconds, away(eastM(seconds)));
  });

/** A window that ended long ago, so that nothing is ongoing. */
const segment = (points: readonly TrackPoint[], minStopSeconds = 180): Segment[] =>
  segmentTrack(points, { fromMs: startMs, toMs: startMs + 7 * dayMs }, minStopSeconds, startMs + 30 * dayMs);

const shape = (segments: readonly Segment[]) =>
  segments.map(({ type, start_ts, end_ts }) => [type, start_ts, end_ts] as const);

describe("segments", () => {
  it("are none without points, for a lone point and for a moment at one place", () => {
    expect(segment([])).toEqual([]);
    expect(segment([point(0, home)])).toEqual([]);
    expect(segment(track(0, 170, 10, () => 0))).toEqual([]);
  });

  it("tell a stop, a walk and a stop, each beginning where the other ends", () => {
    const points = track(0, 3600, 60, (seconds) => {
      if (seconds < 1200) return 0;
      return seconds < 2400 ? seconds - 1200 : 1200;
    });
    const segments = segment(points);
    expect(segments.map(({ type }) => type)).toEqual(["stopped", "moving", "stopped"]);
    expect(segments[0]?.start_ts).toBe(iso(0));
    expect(segments[1]?.start_ts).toBe(segments[0]?.end_ts);
    expect(segments[2]?.start_ts).toBe(segments[1]?.end_ts);
    expect(segments[2]?.end_ts).toBe(iso(3600));
  });

  it.each([0.9, 1.06, 1.5, 15])("see a steady way at %s m/s as one movement, however dense the points", (speed) => {
    for (const every of [1, 10, 60]) {
      const segments = segment(track(0, 1800, every, (seconds) => seconds * speed));
      expect(shape(segments)).toEqual([["moving", iso(0), iso(1800)]]);
    }
  });

  it("find the stop of a car that parks for little more than the shortest stop", () => {
    const points = track(0, 1200, 10, (seconds) => {
      if (seconds <= 400) return seconds * 15;
      return seconds <= 600 ? 6000 : 6000 + (seconds - 600) * 15;
    });
    expect(segment(points).map(({ type }) => type)).toEqual(["moving", "stopped", "moving"]);
    expect(segment(points, 300).map(({ type }) => type)).toEqual(["moving"]);
  });

  it("count a stay as a stop from min_stop_seconds on", () => {
    expect(segment(track(0, 180, 60, () => 0))).toMatchObject([{ type: "stopped", duration_seconds: 180 }]);
    expect(
      segment(
        track(0, 180, 60, () => 0),
        181,
      ),
    ).toEqual([]);
  });

  it("take 200 m for the border", () => {
    const there = (meters: number) => track(0, 1200, 60, (seconds) => (seconds % 600 === 0 ? 0 : meters));
    expect(segment(there(195)).map(({ type }) => type)).toEqual(["stopped"]);
    expect(segment(there(205)).map(({ type }) => type)).toContain("moving");
  });

  it("widen the border by the accuracy", () => {
    const points = track(0, 1200, 60, (seconds) => (seconds % 300 === 0 ? 0 : 600));
    expect(segment(points).length).toBeGreaterThan(1);
    const vague = points.map((each) => ({ ...each, accuracyM: 450 }));
    expect(segment(vague)).toMatchObject([{ type: "stopped", point_count: 21 }]);
  });

  it("are cut where nothing came for more than an hour", () => {
    const stay = (from: number) => track(from, from + 600, 60, () => 0);
    expect(shape(segment([...stay(0), ...stay(600 + 3600)]))).toEqual([["stopped", iso(0), iso(4800)]]);
    expect(shape(segment([...stay(0), ...stay(600 + 3601)]))).toEqual([
      ["stopped", iso(0), iso(600)],
      ["stopped", iso(4201), iso(4801)],
    ]);
  });

  it("describe a movement", () => {
    const points = [
      point(0, away(0), { address: "Example Street 1" }),
      point(60, away(300), { speedKmh: 31 }),
      point(120, away(300, 400), { speedKmh: 12, address: "Example Street 2" }),
    ];
    const [moving] = segment(points) as [MovingSegment];
    expect(moving).toMatchObject({
      type: "moving",
      duration_seconds: 120,
      ongoing: false,
      point_count: 3,
      avg_speed_kmh: 21,
      max_speed_kmh: 31,
      start: { ...away(0), address: "Example Street 1" },
      end: { ...away(300, 400), address: "Example Street 2" },
    });
    expect(Math.abs(moving.distance_m - 700)).toBeLessThanOrEqual(1);
    const silent = points.map((each) => ({ ...each, speedKmh: null }));
    expect((segment(silent) as [MovingSegment])[0].max_speed_kmh).toBe(24);
  });

  it("describe a stop, also across the date line", () => {
    const points = [
      point(0, { lat: 0, lng: 179.9995 }, { address: "West" }),
      point(300, { lat: 0, lng: -179.9995 }, { address: "East" }),
      point(600, { lat: 0.0003, lng: -180 }),
    ];
    const [stop] = segment(points) as [StoppedSegment];
    expect(stop).toMatchObject({
      type: "stopped",
      distance_m: 0,
      point_count: 3,
      address: "East",
      duration_seconds: 600,
    });
    expect(Math.abs(stop.center.lng)).toBeCloseTo(180, 5);
    expect(stop.center.lat).toBeCloseTo(0.0001, 5);
    expect(stop.radius_m).toBe(57);
  });

  describe("that go on", () => {
    const points = track(0, 1200, 60, () => 0);
    const at = (toSeconds: number, nowSeconds: number) =>
      segmentTrack(points, { fromMs: startMs, toMs: startMs + toSeconds * 1000 }, 180, startMs + nowSeconds * 1000).at(
        -1,
      );

    it("have no end and count to the end of the window", () => {
      expect(at(4799, 4799)).toMatchObject({ ongoing: true, end_ts: null, duration_seconds: 4799 });
      expect(at(4799, 4858)).toMatchObject({ ongoing: true, end_ts: null, duration_seconds: 4799 });
    });

    it("end when the window ended a minute ago", () => {
      expect(at(4799, 4859)).toMatchObject({ ongoing: false, end_ts: iso(1200), duration_seconds: 1200 });
    });

    it("end when the last point is an hour old", () => {
      expect(at(4800, 4800)).toMatchObject({ ongoing: false, end_ts: iso(1200), duration_seconds: 1200 });
    });

    it("count to now in a window that ends later", () => {
      expect(at(80_000, 1500)).toMatchObject({ ongoing: true, end_ts: null, duration_seconds: 1500 });
    });

    it("are only the last ones", () => {
      const more = [...points, ...track(1260, 2000, 60, (seconds) => (seconds - 1200) * 10)];
      const now = startMs + 2_000_000;
      const segments = segmentTrack(more, { fromMs: startMs, toMs: now }, 180, now);
      expect(segments.map(({ type, ongoing }) => [type, ongoing])).toEqual([
        ["stopped", false],
        ["moving", true],
      ]);
    });
  });

  it("take noise a second apart in little time, whatever min_stop_seconds is", () => {
    const noisy = (seconds: number) => 90 * Math.sin(seconds) + (seconds % 9000 > 7000 ? (seconds % 9000) - 7000 : 0);
    const points = track(0, 50_000, 1, noisy);
    const begun = performance.now();
    segment(points, 86_400);
    segment(points, 60);
    expect(performance.now() - begun).toBeLessThan(3000);
  });
});

/** Wanders of a device: steps of seconds and meters in any mixture of rest, walk, ride and silence. */
const wander = fc
  .array(
    fc.record({
      seconds: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 300 }) }, fc.integer({ min: 0, max: 9000 })),
      eastM: fc.oneof(fc.constant(0), fc.integer({ min: -60, max: 60 }), fc.integer({ min: -3000, max: 3000 })),
      northM: fc.oneof(fc.constant(0), fc.integer({ min: -60, max: 60 })),
      accuracyM: fc.option(fc.integer({ min: 0, max: 2000 }), { freq: 4 }),
    }),
    { maxLength: 80 },
  )
  .map((steps) => {
    let [seconds, eastM, northM] = [0, 0, 0];
    return steps.map((step) => {
      seconds += step.seconds;
      eastM += step.eastM;
      northM += step.northM;
      return point(seconds, away(eastM, northM), { accuracyM: step.accuracyM });
    });
  });

const minStop = fc.integer({ min: 60, max: 3600 });

describe("segments of any track", () => {
  it("are in time order and do not overlap, begin and end at points, and hold no gap", () => {
    fc.assert(
      fc.property(wander, minStop, (points, minStopSeconds) => {
        const known = new Set(points.map(({ tsMs }) => new Date(tsMs).toISOString()));
        let reached = "";
        for (const { start_ts, end_ts, duration_seconds } of segment(points, minStopSeconds)) {
          expect(start_ts >= reached).toBe(true);
          expect(end_ts !== null && end_ts >= start_ts).toBe(true);
          expect([known.has(start_ts), known.has(end_ts ?? "")]).toEqual([true, true]);
          expect(duration_seconds).toBe((Date.parse(end_ts ?? "") - Date.parse(start_ts)) / 1000);
          const inside = points.filter(({ tsMs }) => tsMs >= Date.parse(start_ts) && tsMs <= Date.parse(end_ts ?? ""));
          for (const [index, { tsMs }] of inside.entries()) {
            expect(tsMs - (inside[index - 1]?.tsMs ?? tsMs)).toBeLessThanOrEqual(3_600_000);
          }
          reached = end_ts ?? "";
        }
      }),
    );
  });

  it("alternate wherever they touch, and a stop lasts as long as it must", () => {
    fc.assert(
      fc.property(wander, minStop, (points, minStopSeconds) => {
        const segments = segment(points, minStopSeconds);
        for (const [index, each] of segments.entries()) {
          if (each.type === "stopped") expect(each.duration_seconds).toBeGreaterThanOrEqual(minStopSeconds);
          const before = segments[index - 1];
          if (before?.type === each.type) expect(before.end_ts).not.toBe(each.start_ts);
          expect(each.point_count).toBeGreaterThanOrEqual(2);
        }
      }),
    );
  });

  it("use every point of a track that has a stop or a way, and no other", () => {
    fc.assert(
      fc.property(wander, (points) => {
        const segments = segment(points);
        const shared = segments.filter(({ start_ts }, index) => segments[index - 1]?.end_ts === start_ts).length;
        const used = segments.reduce((sum, { point_count }) => sum + point_count, 0) - shared;
        expect(used).toBeLessThanOrEqual(points.length);
      }),
    );
  });

  it("do not change when every position is off by centimeters", () => {
    const shake = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 200, maxLength: 200 });
    // Rests and ways well away from the border of 200 m.
    const plan = fc.array(fc.constantFrom("rest", "walk", "ride"), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(plan, shake, (parts, centimeters) => {
        let eastM = 0;
        const speeds = { rest: 0, walk: 1.3, ride: 17 };
        const points = parts.flatMap((part, index) =>
          Array.from({ length: 20 }, (_, step) => {
            eastM += speeds[part] * 60;
            return point((index * 20 + step) * 60, away(eastM));
          }),
        );
        const shaken = points.map((each, index) => ({
          ...each,
          ...away(
            (each.lng - home.lng) * 111_195 * Math.cos((home.lat * Math.PI) / 180),
            (centimeters[index] ?? 0) / 100,
          ),
        }));
        expect(shape(segment(shaken))).toEqual(shape(segment(points)));
      }),
    );
  });

  it("draw a way through its points, and a circle round those of a stop", () => {
    fc.assert(
      fc.property(wander, (points) => {
        for (const each of segment(points)) {
          const inside = points.filter(
            ({ tsMs }) => tsMs >= Date.parse(each.start_ts) && tsMs <= Date.parse(each.end_ts ?? ""),
          );
          if (each.type === "moving") {
            const drawn = decodePolyline(each.polyline);
            expect(drawn).toHaveLength(each.point_count);
            for (const corner of drawn) {
              expect(inside.some((candidate) => distanceM(candidate, corner) < 2)).toBe(true);
            }
          } else {
            const near = inside.filter((candidate) => distanceM(candidate, each.center) <= each.radius_m + 1);
            expect(near.length).toBeGreaterThanOrEqual(each.point_count);
          }
        }
      }),
    );
  });
});
