import { describe, expect, it } from "vitest";
import { decode, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import { corpus, get, imei, json, location, osmandCase, post } from "../../../test/support/osmand-corpus.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { refusal } from "./answers.ts";

const { world } = osmandCase;
const atMs = Date.UTC(2026, 1, 28, 23, 59, 58);
const gps = { lat: 41.902782, lng: 12.496366, altitudeM: 37.5, heading: 118, accuracyM: 12, satellites: null };

function read(bytes: Buffer): TrackerMessage[] {
  const { frames, problems } = decode(world.protocol, bytes, loggedIn(world));
  expect(problems).toEqual([]);
  return frames.flatMap(({ messages }) => messages);
}
const query = (rest: string): TrackerMessage[] => read(get(`id=${imei}&${rest}`));
const problemOf = (bytes: Buffer) => decode(world.protocol, bytes, loggedIn(world)).problems[0]?.reason;

describe("a query", () => {
  it("is a fix with a speed in knots", () =>
    expect(read(corpus[0] as Buffer)).toEqual([
      {
        kind: "fix",
        deviceTimeMs: atMs,
        gps: { ...gps, speedKmh: 3.7 },
        cells: [],
        accessPoints: [],
        network: null,
        isBuffered: false,
      },
      { kind: "vitals", deviceTimeMs: atMs, metrics: { bat: 64 }, extra: {} },
    ]));

  it.each([
    ["timestamp=1772323198", atMs],
    ["timestamp=1772323198000", atMs],
    ["timestamp=2026-02-28T23:59:58Z", atMs],
    ["timestamp=2026-03-01T00:59:58%2B01:00", atMs],
    ["timestamp=2026-02-28+23:59:58", atMs],
    ["timestamp=2026-02-28T23:59:58", atMs],
    ["", null],
  ])("reads the time of %j", (text, deviceTimeMs) =>
    expect(query(`lat=1&lon=2&${text}`)[0]).toMatchObject({ deviceTimeMs }),
  );

  it("names cells and access points", () =>
    expect(query("cell=222,01,5280,47266&cell=222,01,5280,47267,-90&wifi=a4-0B-0c-0d-0e-01,-48")[0]).toMatchObject({
      gps: null,
      network: { mcc: 222, mnc: 1 },
      cells: [
        { mcc: 222, mnc: 1, lac: 5280, cid: 47266, signalDbm: null },
        { cid: 47267, signalDbm: -90 },
      ],
      accessPoints: [{ mac: "a4:0b:0c:0d:0e:01", signalDbm: -48 }],
    }));

  it("is no fix when it says so itself", () =>
    expect(query("lat=1&lon=2&valid=false")).toEqual([{ kind: "heartbeat" }]));

  it("keeps what else it says, and no token", () =>
    expect(query("heartRate=71&steps=0&shift=night&rpm=933&ok=true&notificationToken=secret&__proto__=1")).toEqual([
      {
        kind: "vitals",
        deviceTimeMs: null,
        metrics: { hr: 71, steps: 0 },
        extra: { shift: "night", rpm: 933, ok: true },
      },
    ]));

  it.each([
    ["sos", "sos"],
    ["fallDown", "fall"],
    ["lowBattery", "low_battery"],
    ["general", "custom"],
    ["constructor", "custom"],
  ])("raises the alarm %s", (name, type) =>
    expect(query(`alarm=${name}`)).toEqual([{ kind: "alarm", type, code: name, deviceTimeMs: null }]),
  );

  it.each([
    ["lat=91&lon=0", "coordinates out of range"],
    ["lat=1&lon=181", "coordinates out of range"],
    ["lat=1", "number that cannot be read"],
    ["lat=NaN&lon=0", "number that cannot be read"],
    ["lat=1&lon=2&timestamp=99999999999999999", "time that cannot be read"],
    ["lat=1&lon=2&timestamp=999999999999999", "time out of range"],
    ["lat=1&lon=2&timestamp=2026-02-31T99:00:00Z", "time out of range"],
    ["cell=1,2", "cell that cannot be read"],
    ["wifi=home,-48", "access point that cannot be read"],
  ])("is refused for %s", (rest, reason) => expect(problemOf(get(`id=${imei}&${rest}`))).toBe(reason));
});

describe("JSON", () => {
  it("has metres per second, and a share of the battery", () =>
    expect(read(json({ device_id: imei, location }))).toEqual([
      {
        kind: "fix",
        deviceTimeMs: atMs + 500,
        gps: { ...gps, speedKmh: 7.2 },
        cells: [],
        accessPoints: [],
        network: null,
        isBuffered: false,
      },
      {
        kind: "vitals",
        deviceTimeMs: atMs + 500,
        metrics: { bat: 64 },
        extra: {
          charging: true,
          event: "motionchange",
          moving: true,
          activity: "walking",
          odometer_km: 1.2,
          note: "hi",
          shift: 3,
        },
      },
    ]));

  it("has -1 for what the phone does not know", () => {
    const coords = { latitude: 1, longitude: 2, accuracy: -1, speed: -1, heading: -1, altitude: 0 };
    expect(
      read(json({ device_id: imei, location: { coords, battery: { level: -1, is_charging: false } } })),
    ).toMatchObject([
      { gps: { speedKmh: null, heading: null, accuracyM: null } },
      { metrics: { bat: null }, extra: { charging: false } },
    ]);
  });

  it("may hold several locations, of which the last is the newest", () => {
    const messages = read(json({ device_id: imei, location: [location, { ...location, alarm: "sos" }] }));
    expect(messages.flatMap((message) => (message.kind === "fix" ? [message.isBuffered] : []))).toEqual([true, false]);
    expect(messages.at(-1)).toMatchObject({ kind: "alarm", type: "sos" });
  });

  it.each([
    ["{", "body that is no JSON"],
    ["[]", "JSON without the object that belongs there"],
    [`{"device_id":"${imei}","location":5}`, "JSON without the object that belongs there"],
    [`{"device_id":"${imei}","location":{"timestamp":"soon"}}`, "time that cannot be read"],
    [`{"device_id":"${imei}","location":{"coords":{"latitude":"x"}}}`, "coordinates out of range"],
    ['{"location":{}}', "request without an id"],
  ])("is refused for %s", (body, reason) => expect(problemOf(post(body, "application/json"))).toBe(reason));
});

describe("a request", () => {
  it("is the login first, and read again then", () => {
    const { frames, rest } = decode(world.protocol, corpus[0] as Buffer, fresh(world));
    expect(frames[0]?.messages).toEqual([{ kind: "login", id: imei }]);
    expect(rest).toEqual(corpus[0]);
  });

  it("for another device is its login", () =>
    expect(read(get("id=490155500099999"))).toEqual([{ kind: "login", id: "490155500099999" }]));

  it("is answered with an empty body, and the connection kept as HTTP says", () => {
    const replyTo = (bytes: Buffer) => {
      const [frame] = decode(world.protocol, bytes, loggedIn(world)).frames;
      return [frame?.replies.map(String).join(""), frame?.isLast];
    };
    const empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: ";
    expect(replyTo(get(`id=${imei}`))).toEqual([`${empty}keep-alive\r\n\r\n`, undefined]);
    expect(replyTo(get(`id=${imei}`, "Connection: close\r\n"))).toEqual([`${empty}close\r\n\r\n`, true]);
    const old = Buffer.from(`GET /?id=${imei} HTTP/1.0\r\n\r\n`);
    expect(replyTo(old)).toEqual([`${empty}close\r\n\r\n`, true]);
  });

  it("is refused with a status", () => {
    expect(String(refusal("unknown_device"))).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(String(refusal("unreadable"))).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  it.each([
    ["GET / FTP/9\r\n\r\n", "request line that cannot be read"],
    ["GET / HTTP/1.1\r\nno colon\r\n\r\n", "header that cannot be read"],
    ["POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "body without a length"],
    ["POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "length that cannot be read"],
    ["POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths of one body"],
    ["POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n", "request longer than 8 KB"],
    ["DELETE /?id=1 HTTP/1.1\r\n\r\n", "method that is not known"],
  ])("cannot be read when it is %j", (text, reason) => expect(problemOf(Buffer.from(text))).toBe(reason));
});
