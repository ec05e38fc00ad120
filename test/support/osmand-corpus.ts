import { osmand } from "../../src/codecs/osmand/protocol.ts";
import type { StreamCase } from "./stream-behaviour.ts";

/** For tests: a connection with an invented phone, and requests of every kind. */
export const imei = "490155500012348";
export const nowMs = Date.UTC(2026, 2, 1, 0, 0, 30);

export const get = (query: string, headers = ""): Buffer =>
  Buffer.from(`GET /?${query} HTTP/1.1\r\nHost: vigil\r\n${headers}\r\n`, "latin1");

export function post(body: string, type: string, path = "/"): Buffer {
  const bytes = Buffer.from(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: vigil\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export const json = (body: unknown, path = "/"): Buffer =>
  post(JSON.stringify(body), "application/json; charset=utf-8", path);
export const form = (body: string): Buffer => post(body, "application/x-www-form-urlencoded");

export const location = {
  timestamp: "2026-02-28T23:59:58.500Z",
  coords: { latitude: 41.902782, longitude: 12.496366, accuracy: 12, speed: 2, heading: 117.6, altitude: 37.5 },
  is_moving: true,
  odometer: 1200,
  event: "motionchange",
  battery: { level: 0.64, is_charging: true },
  activity: { type: "walking" },
  extras: { note: "hi", shift: 3 },
};

export const corpus: readonly Buffer[] = [
  get(
    `id=${imei}&lat=41.902782&lon=12.496366&timestamp=1772323198&speed=2&bearing=117.6&altitude=37.5&accuracy=12&batt=64`,
  ),
  get(`deviceid=${imei}&location=41.902782,12.496366&timestamp=1772323198500&charge=true&valid=1`),
  get(`id=${imei}&timestamp=2026-02-28+23%3A59%3A58&cell=222,01,5280,47266,-71&wifi=a4-0b-0c-0d-0e-01,-48&alarm=sos`),
  get(`id=${imei}&batt=15.5&heartRate=71&steps=4210&shift=night`),
  get(`id=${imei}`),
  form(`id=${imei}&lat=41.902782&lon=12.496366&timestamp=2026-02-28T23:59:58Z`),
  json({ device_id: imei, location }),
  json({ device_id: imei, location: [location, { ...location, alarm: "sos" }] }),
  json({ location: { timestamp: location.timestamp } }, `/?id=${imei}`),
  get(`id=${imei}&lat=1&lon=2`, "Connection: close\r\n"),
];

export const osmandCase: StreamCase = {
  world: {
    protocol: osmand,
    nowMs,
    device: { imei, id: imei, utcOffsetMinutes: 60, traits: {}, locale: "it", outstandingSerials: new Set() },
  },
  corpus,
  alphabet: "GET /POS?id=\r\n:",
  endless: Buffer.concat([Buffer.from("GET /?id="), Buffer.alloc(9 * 1024, "1")]),
};
