import type { LastKnownLocation } from "./event-location.ts";
import type { EventTypeName, Severity } from "./event-types.ts";

/** `data` of outbound events that come from an event (section 19.3). Keys stand in the order of the specification's examples. */

export interface EnvelopedEvent {
  id: string;
  eventType: EventTypeName;
  severity: Severity;
  ts: string;
  message: string;
  location: LastKnownLocation | null;
}

const headOf = ({ id, eventType, severity, ts }: EnvelopedEvent) => ({
  event_id: id,
  event_type: eventType,
  severity,
  ts,
});

export const alarmData = (event: EnvelopedEvent, battery: number | null) => ({
  ...headOf(event),
  message: event.message,
  battery,
  location: event.location,
});

export interface EnvelopedFence {
  id: string;
  name: string;
  fence_type: "circle";
  scope: "org" | "user" | "device";
}

/** `dwellSeconds` of a stay only. */
export const geofenceData = (
  event: EnvelopedEvent,
  geofence: EnvelopedFence,
  distanceM: number,
  dwellSeconds?: number,
) => ({
  ...headOf(event),
  geofence,
  distance_m: distanceM,
  ...(dwellSeconds === undefined ? {} : { dwell_seconds: dwellSeconds }),
  location: event.location,
});

export interface EnvelopedBreach {
  metricKey: string;
  value: number;
  unit: string;
  bound: "low" | "high";
  threshold: { id: string; scope: "Organization" | "Device" | "User"; low: number | null; high: number | null };
  /** Of a breach that is over: the event that began it. */
  breachEventId?: string;
  battery: number | null;
}

export const thresholdData = (event: EnvelopedEvent, breach: EnvelopedBreach) => ({
  ...headOf(event),
  message: event.message,
  metric_key: breach.metricKey,
  value: breach.value,
  unit: breach.unit,
  bound: breach.bound,
  threshold: breach.threshold,
  ...(breach.breachEventId === undefined ? {} : { breach_event_id: breach.breachEventId }),
  battery: breach.battery,
  location: event.location,
});

export interface EnvelopedPresence {
  isOnline: boolean;
  reason: "connected" | "silence" | "socket_closed" | "power_off";
  lastSeenAt: string | null;
  previousChangeAt: string | null;
}

export const presenceData = (eventId: string, presence: EnvelopedPresence) => ({
  event_id: eventId,
  is_online: presence.isOnline,
  reason: presence.reason,
  last_seen_at: presence.lastSeenAt,
  previous_change_at: presence.previousChangeAt,
});
