import { uuidV7 } from "../lib/ids.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";

/** The device of samples, which cannot exist. */
const sampleDevice = "000000000000000";

const exampleTime = "2026-03-01T08:15:24.000Z";

const location = (ts: string) => ({ lat: 41.902782, lng: 12.496366, accuracy_m: 12, source: "gps", ts });
const fence = { id: "00000000-0000-4000-8000-000000000001", name: "Sample", fence_type: "circle", scope: "device" };
const event = "00000000-0000-4000-8000-000000000002";
const object = "00000000-0000-4000-8000-000000000003";
const threshold = { id: "00000000-0000-4000-8000-000000000004", scope: "Device", low: 45, high: 120 };

const alarm = (eventType: string, severity: string, ts: string, message: string) => ({
  event_id: event,
  event_type: eventType,
  severity,
  ts,
  message,
});
const crossing = (eventType: string, severity: string, ts: string) => ({
  event_id: event,
  event_type: eventType,
  severity,
  ts,
  geofence: fence,
  distance_m: 41,
});
const breach = { metric_key: "hr", unit: "bpm", bound: "high", threshold };
const command = (status: string, ts: string, error: object | null) => ({
  command_uuid: object,
  command_type: "locate_now",
  status,
  params: {},
  result: null,
  error,
  created_at: ts,
  sent_at: ts,
  acked_at: error === null ? ts : null,
  completed_at: ts,
});
const presence = (isOnline: boolean, reason: string, ts: string) => ({
  event_id: event,
  is_online: isOnline,
  reason,
  last_seen_at: ts,
  previous_change_at: ts,
});
const message = (direction: string, status: string, failureReason: string | null, ts: string) => ({
  message_id: object,
  direction,
  message_type: "text",
  device_delivery_status: status,
  text: "Sample",
  audio_url: null,
  duration_ms: null,
  sender_name: "Vigil",
  sender_user_id: null,
  failure_reason: failureReason,
  ts,
});
const noAnswer = { code: "ack_timeout", message: "No acknowledgement within 60 s.", details: {} };

/** The `data` of section 19.3 for each type. */
const samples: Record<WebhookEventType, (ts: string) => object> = {
  "location.update": (ts) => ({
    location_id: object,
    ts,
    device_ts: ts,
    received_at: ts,
    lat: 41.902782,
    lng: 12.496366,
    altitude_m: 37,
    speed_kmh: 3.2,
    heading: 118,
    accuracy_m: 12,
    source: "gps",
    satellites: 9,
    is_moving: true,
    carrier: null,
    address: null,
  }),
  "alarm.sos": (ts) => ({ ...alarm("sos", "critical", ts, "SOS pressed"), battery: 81, location: location(ts) }),
  "alarm.fall": (ts) => ({ ...alarm("fall", "critical", ts, "Fall detected"), battery: 81, location: null }),
  "alarm.low_battery": (ts) => ({
    ...alarm("low_battery", "warning", ts, "Battery at 12%"),
    battery: 12,
    location: null,
  }),
  "geofence.enter": (ts) => ({ ...crossing("geofence_enter", "info", ts), location: location(ts) }),
  "geofence.exit": (ts) => ({ ...crossing("geofence_exit", "warning", ts), location: location(ts) }),
  "health.snapshot": (ts) => ({
    telemetry_id: object,
    ts,
    device_ts: null,
    metrics: { hr: { value: 72, unit: "bpm" }, spo2: { value: 97, unit: "%" } },
  }),
  "command.ack": (ts) => command("ack_ok", ts, null),
  "command.failed": (ts) => command("timeout", ts, noAnswer),
  "device.online": (ts) => presence(true, "connected", ts),
  "device.offline": (ts) => presence(false, "silence", ts),
  "message.received": (ts) => message("inbound", "delivered", null, ts),
  "message.sent": (ts) => message("outbound", "sending", null, ts),
  "message.delivered": (ts) => message("outbound", "delivered", null, ts),
  "message.failed": (ts) => message("outbound", "failed", "device_offline_expired", ts),
  "geofence.dwell": (ts) => ({ ...crossing("geofence_dwell", "info", ts), dwell_seconds: 600, location: location(ts) }),
  "alarm.threshold": (ts) => ({
    ...alarm("threshold_breach", "warning", ts, "hr 134 above 120"),
    ...breach,
    value: 134,
    battery: 81,
    location: null,
  }),
  "alarm.threshold_cleared": (ts) => ({
    ...alarm("threshold_cleared", "info", ts, "hr 96 back in range"),
    ...breach,
    value: 96,
    breach_event_id: object,
    battery: 80,
    location: null,
  }),
  "ecg.recorded": (ts) => ({
    event_id: event,
    ecg_id: object,
    ts,
    device_ts: ts,
    duration_ms: 30_000,
    sampling_rate_hz: 250,
    avg_hr: 71,
    classification: "sinus_rhythm",
    quality: "good",
    status: "complete",
  }),
  "webhook.test": () => ({ message: "Test event" }),
};

/** An event as an example for readers. */
export const exampleEvent = (type: WebhookEventType): object => ({
  id: "019ca877-8198-7a3c-9f61-2b7e5d0c4a11",
  type,
  occurred_at: exampleTime,
  partner_integration_id: "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31",
  device: { uid: "490154203237518", imei: "490154203237518" },
  data: { ...samples[type](exampleTime), ...(type === "webhook.test" ? { test: true } : {}) },
});

/** An envelope as a receiver would get it, marked as a test. It is in no log. */
export function sampleEvent(
  type: WebhookEventType,
  integrationId: string,
  now: Date,
): { id: string; type: WebhookEventType; body: Buffer } {
  const id = uuidV7(now.getTime());
  const occurredAt = now.toISOString();
  const envelope = {
    id,
    type,
    occurred_at: occurredAt,
    partner_integration_id: integrationId,
    device: { uid: sampleDevice, imei: sampleDevice },
    data: { ...samples[type](occurredAt), test: true },
  };
  return { id, type, body: Buffer.from(JSON.stringify(envelope)) };
}
