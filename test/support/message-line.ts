import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";

/** A message in a line, for tables of what frames say. */
export function messageLine(message: TrackerMessage): string {
  switch (message.kind) {
    case "fix": {
      const { gps, cells, accessPoints, isBuffered, deviceTimeMs } = message;
      const place = gps ? `${gps.lat},${gps.lng}` : "nowhere";
      const motion = gps ? ` ${gps.speedKmh} km/h ${gps.heading}°` : "";
      const height = gps && gps.altitudeM !== null ? ` ${gps.altitudeM} m` : "";
      const around = cells
        .map(({ mcc, mnc, lac, cid, signalDbm }) => ` ${mcc}/${mnc}/${lac}/${cid}@${signalDbm}`)
        .join("");
      const points = accessPoints.map(({ mac, signalDbm }) => ` ${mac}@${signalDbm}`).join("");
      return `fix ${timeOf(deviceTimeMs)} ${place}${motion}${height}${around}${points}${isBuffered ? " stored" : ""}`;
    }
    case "vitals":
      return `vitals ${JSON.stringify({ ...message.metrics, ...message.extra })}`;
    case "alarm":
      return `alarm ${timeOf(message.deviceTimeMs)} ${message.type} ${message.code}`;
    case "info":
      return `info ${[message.firmware, message.iccid, message.imsi].filter((one) => one !== undefined).join(" ")}`;
    case "command_answer":
      return `answer ${message.word} ${message.serial} ${message.isAccepted} ${message.refusal ?? ""}`.trim();
    case "login":
      return `login ${message.id}`;
    default:
      return message.kind;
  }
}

const timeOf = (timeMs: number | null): string =>
  timeMs === null ? "-" : new Date(timeMs).toISOString().slice(11, 19);
