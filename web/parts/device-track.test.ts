import { describe, expect, it } from "vitest";
import { encodePolyline } from "../../src/resources/locations/polyline.ts";
import type { Segment } from "../api/types.ts";
import { decodePolyline, piecesOf, placeAt, stopsOf, trackOfSegments } from "./device-track.ts";

const minuteMs = 60_000;
const iso = (minute: number): string => new Date(minute * minuteMs).toISOString();
const point = (minute: number, lat: number, lng = 12) => ({ tsMs: minute * minuteMs, lat, lng });

const walk: Segment = {
  type: "moving",
  start_ts: iso(0),
  end_ts: iso(20),
  duration_seconds: 1200,
  ongoing: false,
  distance_m: 900,
  point_count: 3,
  avg_speed_kmh: 3,
  max_speed_kmh: 5,
  start: { lat: 41, lng: 12, address: null },
  end: { lat: 41.2, lng: 12, address: null },
  polyline: encodePolyline([point(0, 41), point(0, 41.1), point(0, 41.2)]),
};
const stay: Segment = {
  type: "stopped",
  start_ts: iso(20),
  end_ts: null,
  duration_seconds: 600,
  ongoing: true,
  distance_m: 0,
  point_count: 2,
  center: { lat: 41.2, lng: 12 },
  radius_m: 30,
  address: "Example Street 12",
};

describe("a polyline", () => {
  it("is decoded to the places it was made of", () => {
    const places = [
      { lat: 41.90278, lng: 12.49636 },
      { lat: -33.86, lng: 151.2 },
      { lat: 0, lng: -179.99999 },
    ];
    expect(decodePolyline(encodePolyline(places))).toEqual(places);
    expect(decodePolyline("")).toEqual([]);
  });
});

describe("the track of segments", () => {
  it("has its points equally far apart in time, and a stop at both of its ends", () => {
    expect(trackOfSegments([walk, stay])).toEqual([
      point(0, 41),
      point(10, 41.1),
      point(20, 41.2),
      point(20, 41.2),
      point(30, 41.2),
    ]);
  });

  it("names its stops", () => {
    expect(stopsOf([walk, stay])).toMatchObject([{ radiusM: 30, isOngoing: true, toMs: 30 * minuteMs }]);
  });
});

describe("the place at a time", () => {
  const track = [point(0, 41), point(10, 42), point(200, 43)];
  it("lies on the line between two reports", () => {
    expect(placeAt(track, 5 * minuteMs)).toMatchObject({ lat: 41.5, isOld: false });
    expect(placeAt(track, -1)).toBeUndefined();
  });
  it("is the last known one during a long silence, marked as old after an hour", () => {
    expect(placeAt(track, 60 * minuteMs)).toMatchObject({ lat: 42, isOld: false });
    expect(placeAt(track, 100 * minuteMs)).toMatchObject({ lat: 42, isOld: true });
  });
});

describe("the line of a track", () => {
  it("is not drawn through a silence of more than an hour", () => {
    expect(piecesOf([point(0, 41), point(10, 42), point(200, 43)]).map(({ length }) => length)).toEqual([2, 1]);
  });
});
