/**
 * What the ingest asks of outside services, to be looked up by the place worker after the packet is stored and answered. Both
 * sides use these shapes; the payloads are stored as JSON, so times in them are text.
 */
export const placeChannel = "vigil_place";

export type PlaceKind = "locate" | "address";

export interface LocatePayload {
  ts: string;
  device_ts: string | null;
  received_at: string;
  cells: { mcc: number; mnc: number; lac: number; cid: number; signal_dbm: number | null }[];
  access_points: { mac: string; signal_dbm: number | null }[];
  /** The network of the carrier. */
  mcc: number | null;
  mnc: number | null;
}

export interface AddressPayload {
  location_id: string;
  ts: string;
  lat: number;
  lng: number;
}

interface JobOf<Kind extends PlaceKind, Payload> {
  deviceId: string;
  /** The location that a lookup makes has the id of its job, so that a repeated run cannot make a second one. */
  id: string;
  organizationId: string;
  kind: Kind;
  payload: Payload;
  createdAt: Date;
}
export type LocateJob = JobOf<"locate", LocatePayload>;
export type AddressJob = JobOf<"address", AddressPayload>;
export type PlaceJob = LocateJob | AddressJob;

export interface NetworkReport {
  id: string;
  deviceId: string;
  organizationId: string;
  ts: Date;
  deviceTs: Date | null;
  receivedAt: Date;
  cells: readonly { mcc: number; mnc: number; lac: number; cid: number; signalDbm: number | null }[];
  accessPoints: readonly { mac: string; signalDbm: number | null }[];
  network: { mcc: number; mnc: number } | null;
}

/** Undefined: the report names no network that a service could know. */
export function locateJob(report: NetworkReport): LocateJob | undefined {
  const cells = report.cells.filter(
    ({ mcc, mnc, lac, cid }) => isNetwork({ mcc, mnc }) && isKnown(lac, unknownAreas) && isKnown(cid, unknownCells),
  );
  const accessPoints = report.accessPoints.filter(({ mac }) => isAccessPoint(mac));
  if (cells.length === 0 && accessPoints.length === 0) return undefined;
  const network = [report.network, ...cells].find((candidate) => candidate !== null && isNetwork(candidate));
  return {
    deviceId: report.deviceId,
    id: report.id,
    organizationId: report.organizationId,
    kind: "locate",
    createdAt: report.receivedAt,
    payload: {
      ts: report.ts.toISOString(),
      device_ts: report.deviceTs?.toISOString() ?? null,
      received_at: report.receivedAt.toISOString(),
      cells: cells.map(({ signalDbm, mcc, mnc, lac, cid }) => ({ mcc, mnc, lac, cid, signal_dbm: signalDbm })),
      access_points: accessPoints.map(({ mac, signalDbm }) => ({ mac: mac.toLowerCase(), signal_dbm: signalDbm })),
      mcc: network?.mcc ?? null,
      mnc: network?.mnc ?? null,
    },
  };
}

export interface KnownPosition {
  /** Of the job, not of the location. */
  id: string;
  deviceId: string;
  organizationId: string;
  locationId: string;
  ts: Date;
  lat: number;
  lng: number;
  now: Date;
}

export const addressJob = ({ locationId, ts, lat, lng, now, ...job }: KnownPosition): AddressJob => ({
  deviceId: job.deviceId,
  id: job.id,
  organizationId: job.organizationId,
  kind: "address",
  createdAt: now,
  payload: { location_id: locationId, ts: ts.toISOString(), lat, lng },
});

// What radio modules report for "not known": the highest value of the field (3GPP TS 23.003 and 27.007).
const unknownAreas = [0xfffe, 0xffff];
const unknownCells = [0x0fffffff, 0x7fffffff, 0xffffffff];

const isKnown = (value: number, unknown: readonly number[]): boolean =>
  Number.isInteger(value) && value > 0 && !unknown.includes(value);

const isNetwork = ({ mcc, mnc }: { mcc: number; mnc: number }): boolean =>
  Number.isInteger(mcc) && mcc > 0 && mcc <= 999 && Number.isInteger(mnc) && mnc >= 0 && mnc <= 999;

/** All zeros and all ones stand for none. Which others are worth nothing, as those that phones make up, the service knows best. */
const isAccessPoint = (mac: string): boolean =>
  /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac) && !/^(?:00(:00){5}|ff(:ff){5})$/i.test(mac);
