import type { Alarm } from "../codecs/tracker-message.ts";
import { formatUuid } from "../lib/ids.ts";
import { alarmData } from "../resources/events/event-envelope.ts";
import { eventTypes, severities } from "../resources/events/event-types.ts";
import type { DeviceMemory } from "./device-memory.ts";
import type { EventOwner, EventRow } from "./ingest-rows.ts";
import { plausibleTime } from "./rules/time-rule.ts";

/** The event that an alarm of a device becomes. */
export function alarmEvent(
  hold: EventOwner,
  id: Buffer,
  alarm: Alarm,
  { battery, location }: { battery: number | null; location: DeviceMemory["lastLocation"] },
  receivedAtMs: number,
): EventRow {
  const tsMs = plausibleTime(alarm.deviceTimeMs, receivedAtMs);
  const { number, severity, title, outboundType } = eventTypes[alarm.type];
  const message = alarm.type === "low_battery" && battery !== null ? `Battery at ${battery}%` : title;
  const ts = new Date(tsMs).toISOString();
  const enveloped = { id: formatUuid(id), eventType: alarm.type, severity, ts, message, location };
  return {
    hold,
    id,
    typeNumber: number,
    severity: severities[severity],
    tsMs,
    deviceTimeMs: alarm.deviceTimeMs,
    receivedAtMs,
    title,
    message,
    location,
    data: { ...(alarm.code === "" ? {} : { code: alarm.code }), ...(battery === null ? {} : { battery }) },
    outbound: outboundType === null ? null : alarmData(enveloped, battery),
  };
}
