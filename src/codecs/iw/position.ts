import { MalformedFrame } from "../malformed-frame.ts";
import type { Fix, TrackerMessage } from "../tracker-message.ts";
import { readHeading } from "../wire/coordinates.ts";
import { dialectOf, digitsIn, type IwFrame, type IwSession, type Metrics, vitals, wholeNumberOf } from "./fields.ts";
import { cellOf, type Networks, networkOf, readNetworks } from "./networks.ts";
import { PositionBlock } from "./position-block.ts";
import { statusMetrics } from "./status.ts";
import { utcTimeOfDigits } from "./time.ts";

const noFields: readonly string[] = [];

export interface PositionReport {
  fix: Fix;
  metrics: Metrics;
  /** The fields after the block and the report's own cell: what the code adds, and other networks. */
  more: readonly string[];
}

/** The block of AP01 and AP10, and the networks after it. */
export function readPositionReport(frame: IwFrame, session: IwSession): PositionReport {
  const block = new PositionBlock(frame.body, dialectOf(session) === "C");
  const date = block.digits(6);
  const isValid = block.letter("A", "V") === "A";
  const lat = block.coordinate(2, "N", "S");
  const lng = block.coordinate(3, "E", "W");
  const speedKmh = block.speed();
  const time = block.digits(6);
  const heading = readHeading(block.course());
  const signal = block.digits(3);
  const satellites = block.digits(3);
  const battery = block.digits(3);
  block.skipFlags();
  const { cells, accessPoints, network, more } = readTail(frame.body, block.offset);
  const fix: Fix = {
    kind: "fix",
    deviceTimeMs: utcTimeOfDigits(date, time),
    gps: isValid ? { lat, lng, altitudeM: null, speedKmh, heading, accuracyM: null, satellites } : null,
    cells,
    accessPoints,
    network,
    isBuffered: frame.code === "AP91",
  };
  return { fix, metrics: statusMetrics(signal, satellites, battery), more };
}

/** AP01, the buffered AP91, and YP03 and YP14 of TRV units. */
export function readPosition(frame: IwFrame, session: IwSession): TrackerMessage[] {
  const { fix, metrics } = readPositionReport(frame, session);
  return [fix, vitals(fix.deviceTimeMs, metrics)];
}

/** AP02 and the buffered AP92: language, flag, number of cells, network, cells, number of access points, access points. */
export function readSurroundings({ code, fields }: IwFrame): TrackerMessage[] {
  const [, , cellCount, mcc = "", mnc = ""] = fields;
  if (wholeNumberOf(cellCount) > fields.length - 5) throw new MalformedFrame("cells are missing");
  return [
    {
      kind: "fix",
      deviceTimeMs: null,
      gps: null,
      ...readNetworks(fields.slice(5), digitsIn(mcc), digitsIn(mnc)),
      network: networkOf(digitsIn(mcc, 0, mcc.length, 3), digitsIn(mnc, 0, mnc.length, 3)),
      isBuffered: code === "AP92",
    },
  ];
}

interface Tail extends Networks {
  network: Fix["network"];
  more: readonly string[];
}

/** Network, area and cell, and what follows them. */
function readTail(body: string, blockEnd: number): Tail {
  const mccStart = endOfMoreDigits(body, blockEnd) + 1;
  const mccEnd = fieldEnd(body, mccStart);
  const mncEnd = fieldEnd(body, mccEnd + 1);
  const lacEnd = fieldEnd(body, mncEnd + 1);
  const cidEnd = fieldEnd(body, lacEnd + 1);
  const mcc = digitsIn(body, mccStart, mccEnd);
  const mnc = digitsIn(body, mccEnd + 1, mncEnd);
  const ownCell = cellOf(mcc, mnc, digitsIn(body, mncEnd + 1, lacEnd), digitsIn(body, lacEnd + 1, cidEnd), 0);
  const more = cidEnd < body.length ? body.slice(cidEnd + 1).split(",") : noFields;
  const { cells, accessPoints } = readNetworks(more, mcc, mnc, ownCell);
  const network = networkOf(digitsIn(body, mccStart, mccEnd, 3), digitsIn(body, mccEnd + 1, mncEnd, 3));
  return { cells, accessPoints, network, more };
}

/** TRV units write more digits before the first comma, others beacons after a bar. */
function endOfMoreDigits(body: string, blockEnd: number): number {
  const end = fieldEnd(body, blockEnd);
  if (end === blockEnd || /^(?:\d{0,8}|\d{0,8}\|.*)$/.test(body.slice(blockEnd, end))) return end;
  throw new MalformedFrame("bad position block");
}

/** The comma after the field, or the end of the text. */
function fieldEnd(text: string, start: number): number {
  const comma = text.indexOf(",", start);
  return comma < 0 ? text.length : comma;
}
