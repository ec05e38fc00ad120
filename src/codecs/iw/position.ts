import { MalformedFrame } from "../malformed-frame.ts";
import type { Fix, GpsPosition, TrackerMessage } from "../tracker-message.ts";
import { fromMinutes, readHeading } from "../wire/coordinates.ts";
import { dialectOf, type IwFrame, type IwSession, type Metrics, vitals, wholeNumberOf } from "./fields.ts";
import { readCell, readNetwork, readNetworks } from "./networks.ts";
import { statusMetrics } from "./status.ts";
import { utcTimeOf } from "./time.ts";

/** Date, validity, latitude, longitude, speed, time, course, signal, satellites, battery, and three groups of flags. */
const BLOCK_PARTS = [
  "(\\d{6})",
  "([AV])",
  "(\\d{2})(\\d{2}\\.\\d{3,6})([NS])",
  "(\\d{3})(\\d{2}\\.\\d{3,6})([EW])",
  "(\\d{3}\\.\\d)",
  "(\\d{6})",
  "([\\d.]{6})",
  "(\\d{3})",
  "(\\d{3})",
  "(\\d{3})",
  "\\d",
  "\\d{2}",
  "\\d{2}",
];
const BLOCK = new RegExp(`^${BLOCK_PARTS.join("")}`);
/** Kids' watches (dialect C) have commas between the parts. */
const SPLIT_BLOCK = new RegExp(`^${BLOCK_PARTS.join(",?")}`);

export interface PositionReport {
  fix: Fix;
  metrics: Metrics;
  /** The fields after the block: network, cell, and what the code adds. */
  tail: string[];
}

/** The block of AP01 and AP10, and the networks after it. */
export function readPositionReport(frame: IwFrame, session: IwSession): PositionReport {
  const match = (dialectOf(session) === "C" ? SPLIT_BLOCK : BLOCK).exec(frame.body);
  if (!match) throw new MalformedFrame("bad position block");
  const [block, date, validity, latDegrees, latMinutes, ns, lngDegrees, lngMinutes, ew, speed, time, course] = match;
  const tail = tailOf(frame.body.slice(block.length));
  const metrics = statusMetrics(match.slice(12, 15));
  const gps: GpsPosition = {
    lat: fromMinutes(Number(latDegrees), Number(latMinutes), ns === "S"),
    lng: fromMinutes(Number(lngDegrees), Number(lngMinutes), ew === "W"),
    altitudeM: null,
    speedKmh: Number(speed),
    heading: readHeading(Number(course ?? "")),
    accuracyM: null,
    satellites: metrics.satellites ?? null,
  };
  const ownCell = readCell(tail.slice(0, 4));
  const { cells, accessPoints } = readNetworks(tail.slice(4), tail[0], tail[1]);
  const fix: Fix = {
    kind: "fix",
    deviceTimeMs: utcTimeOf(`${date}${time}`),
    gps: validity === "A" ? gps : null,
    cells: ownCell ? [ownCell, ...cells] : cells,
    accessPoints,
    network: readNetwork(tail[0], tail[1]),
    isBuffered: frame.code === "AP91",
  };
  return { fix, metrics, tail };
}

/** AP01, the buffered AP91, and YP03 and YP14 of TRV units. */
export function readPosition(frame: IwFrame, session: IwSession): TrackerMessage[] {
  const { fix, metrics } = readPositionReport(frame, session);
  return [fix, vitals(fix.deviceTimeMs, metrics)];
}

/** AP02 and the buffered AP92: language, flag, number of cells, network, cells, number of access points, access points. */
export function readSurroundings({ code, fields }: IwFrame): TrackerMessage[] {
  const [, , cellCount, mcc, mnc] = fields;
  if (wholeNumberOf(cellCount) > fields.length - 5) throw new MalformedFrame("cells are missing");
  return [
    {
      kind: "fix",
      deviceTimeMs: null,
      gps: null,
      ...readNetworks(fields.slice(5), mcc, mnc),
      network: readNetwork(mcc, mnc),
      isBuffered: code === "AP92",
    },
  ];
}

/** TRV units write more digits before the first comma, others beacons after a bar. */
function tailOf(text: string): string[] {
  const [more = "", ...tail] = text.split(",");
  if (!/^(?:\d{0,8}|\d{0,8}\|.*)$/.test(more)) throw new MalformedFrame("bad position block");
  return tail;
}
