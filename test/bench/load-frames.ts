import { crc16Arc } from "../../src/codecs/wire/crc16.ts";
import type { Snapshot } from "../../src/simulator/device-protocol.ts";
import { fleetMember, makeProtocols, rome } from "../../src/simulator/fleet.ts";
import { momentAt } from "../../src/simulator/life.ts";
import { sightingAt } from "../../src/simulator/sighting.ts";
import { iwLogin, iwPosition } from "../support/fleet.ts";

/** What devices of the load write, and how long the answers are that they count. */
export interface LoadFrames {
  modelSlug: string;
  login(uid: string): string | Buffer;
  isLoginAnswer(bytes: Buffer): boolean;
  /** A frame whose fixes are all of the second that begins at the time. */
  report(timeMs: number): string | Buffer;
  fixesPerFrame: number;
  answerBytes: number;
}

const city = { ...rome, utcOffsetMinutes: 60 };
const protocolOf = makeProtocols();
const recordsPerFrame = 10;
/** Before the records of a frame: zeros, length, codec and count; after them: count and checksum. */
const [recordStart, recordEnd] = [10, -5];

function snapshotAt(atMs: number): Snapshot {
  const { person } = fleetMember(7, 1, "gt06", city);
  const life = momentAt(person, atMs);
  const gps = { lat: 41.9, lng: 12.5, altitudeM: 20, speedKmh: 3, heading: 118, satellites: 9, accuracyM: 10 };
  return { atMs, life, seen: { ...sightingAt(person, atMs, life, false), gps } };
}

function simulated(protocol: "gt06" | "teltonika") {
  const member = fleetMember(7, 1, protocol, city);
  const device = protocolOf(member);
  // Lives are slow to compute: one is enough for all, with another time in each report.
  const seen = snapshotAt(Date.UTC(2026, 2, 2, 11));
  return {
    modelSlug: member.modelSlug,
    login: (uid: string): Buffer => device.login({ imei: uid, id: uid }, seen).bytes,
    report: (atMs: number): Buffer => device.location(member, { ...seen, atMs }, false).bytes,
  };
}

const gt06 = simulated("gt06");
const teltonika = simulated("teltonika");

function teltonikaFrame(timeMs: number): Buffer {
  const records = Array.from({ length: recordsPerFrame }, (_, index) =>
    teltonika.report(timeMs + index * 100).subarray(recordStart, recordEnd),
  );
  const content = Buffer.concat([Buffer.of(0x8e, recordsPerFrame), ...records, Buffer.of(recordsPerFrame)]);
  const frame = Buffer.alloc(8 + content.length + 4);
  frame.writeUInt32BE(content.length, 4);
  content.copy(frame, 8);
  frame.writeUInt32BE(crc16Arc(content), 8 + content.length);
  return frame;
}

let [latestMs, latest] = [0, ""];

/** Devices send theirs in turn, so that many in a row are of the same second. */
function iwReport(timeMs: number): string {
  if (timeMs !== latestMs) [latestMs, latest] = [timeMs, iwPosition(timeMs)];
  return latest;
}

export const loadFrames = {
  iw: {
    modelSlug: "iw-h10",
    login: iwLogin,
    isLoginAnswer: (bytes) => bytes.includes("IWBP00"),
    report: iwReport,
    fixesPerFrame: 1,
    answerBytes: "IWBP01#".length,
  },
  gt06: {
    ...gt06,
    isLoginAnswer: (bytes) => bytes[3] === 0x01,
    fixesPerFrame: 1,
    // Start, length, type, serial, checksum and stop.
    answerBytes: 10,
  },
  teltonika: {
    ...teltonika,
    report: teltonikaFrame,
    isLoginAnswer: (bytes) => bytes[0] === 0x01,
    fixesPerFrame: recordsPerFrame,
    // The number of records.
    answerBytes: 4,
  },
} as const satisfies Record<string, LoadFrames>;

export type LoadProtocol = keyof typeof loadFrames;
