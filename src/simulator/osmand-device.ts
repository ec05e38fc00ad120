import type { AlarmKind, DeviceProtocol, Identity, Packet, ServerMessage, Snapshot } from "./device-protocol.ts";

const kmhOfKnot = 1.852;

/** A phone with Traccar Client: each report is a request, on one connection that is kept. */
export function makeOsmandDevice(): DeviceProtocol {
  return {
    login: (self, now) => request(self, now, place(now)),
    heartbeat: (self, now) => request(self, now, {}),
    location: (self, now) => request(self, now, place(now)),
    alarm: (self, now, alarm) => request(self, now, { ...place(now), alarm: alarmNames[alarm] }),
    readings: (self, now, what) =>
      what === "pulse" || what === "all"
        ? [request(self, now, { heartRate: String(now.life.pulse), steps: String(now.life.steps) })]
        : [],
    voice: () => [],
    ecg: () => [],
    read,
  };
}

const alarmNames: Record<AlarmKind, string> = { sos: "sos", fall: "fallDown", low_battery: "lowBattery" };

function request(self: Identity, { atMs, life }: Snapshot, values: Readonly<Record<string, string>>): Packet {
  const query = new URLSearchParams({
    id: self.id,
    timestamp: new Date(atMs).toISOString(),
    batt: String(life.battery),
    charge: String(life.isCharging),
    ...values,
  });
  return {
    bytes: Buffer.from(`GET /?${query} HTTP/1.1\r\nHost: vigil\r\nUser-Agent: simulated\r\n\r\n`),
    answer: "200",
  };
}

function place({ seen }: Snapshot): Record<string, string> {
  const { gps, mcc, mnc, cells, accessPoints } = seen;
  const [cell] = cells;
  const [accessPoint] = accessPoints;
  const networks = {
    ...(cell ? { cell: `${mcc},${mnc},${cell.lac},${cell.cid},${cell.signalDbm}` } : {}),
    ...(accessPoint ? { wifi: `${accessPoint.mac.replaceAll(":", "-")},${accessPoint.signalDbm}` } : {}),
  };
  if (!gps) return networks;
  return {
    ...networks,
    lat: gps.lat.toFixed(7),
    lon: gps.lng.toFixed(7),
    altitude: String(gps.altitudeM),
    speed: (gps.speedKmh / kmhOfKnot).toFixed(6),
    bearing: String(gps.heading),
    accuracy: String(gps.accuracyM),
  };
}

function read(_self: Identity, bytes: Buffer): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n", at, "latin1");
    if (end === -1) return { messages, rest: bytes.subarray(at) };
    const [, status = ""] = /^HTTP\/1\.1 (\d{3}) /.exec(bytes.toString("latin1", at, end)) ?? [];
    messages.push(status === "200" ? { kind: "answer", answer: "200", isRefusal: false } : { kind: "unreadable" });
    at = end + 4;
  }
}
