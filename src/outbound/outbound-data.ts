import { type TSchema, Type } from "@sinclair/typebox";
import { FreeObject, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../http/schemas.ts";
import type { WebhookEventType } from "../outbox/webhook-event-types.ts";
import { LocationSource } from "../resources/devices/location-source.ts";
import { EventLocation, EventSeverity, EventTypeLabel } from "../resources/events/event-record.ts";

/** `data` of each outbound type (section 19.3), for the description: partners generate types from it. */

const NullableTime = Nullable(Timestamp);
const NullableText = Nullable(Type.String());

const dataOf = (name: string, fields: Record<string, TSchema>): TSchema =>
  Type.Object(
    {
      ...fields,
      test: Type.Optional(Type.Boolean({ description: "Present, and true, only in samples sent by an operator." })),
    },
    { $id: name },
  );

const LocationUpdate = dataOf("LocationUpdateData", {
  location_id: Uuid,
  ts: Timestamp,
  device_ts: NullableTime,
  received_at: Timestamp,
  lat: Type.Number(),
  lng: Type.Number(),
  altitude_m: Nullable(Type.Number()),
  speed_kmh: Nullable(Type.Number()),
  heading: Nullable(Type.Integer({ description: "Degrees, clockwise from north." })),
  accuracy_m: Nullable(Type.Number({ description: "Never null for lbs and wifi." })),
  source: refTo(LocationSource),
  satellites: Nullable(Type.Integer()),
  is_moving: Nullable(Type.Boolean()),
  carrier: NullableText,
  address: NullableText,
});

const Reading = Type.Object({ value: Type.Number(), unit: Type.String({ examples: ["bpm"] }) }, { $id: "Reading" });

const HealthSnapshot = dataOf("HealthSnapshotData", {
  telemetry_id: Uuid,
  ts: Timestamp,
  device_ts: NullableTime,
  metrics: Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: refTo(Reading),
    description: "Readings in range by metric: bat, hr, sbp, dbp, spo2, temp, glucose, steps, gsm_signal, satellites.",
  }),
});

const eventHead = {
  event_id: Uuid,
  event_type: refTo(EventTypeLabel),
  severity: refTo(EventSeverity),
  ts: Timestamp,
};
const battery = Nullable(Type.Number({ description: "Percent, as last reported." }));
const location = Nullable(EventLocation);

const Alarm = dataOf("AlarmData", { ...eventHead, message: Type.String(), battery, location });

const FenceType = StringEnum("OutboundFenceTypeEnum", ["circle"]);
const FenceScope = StringEnum("OutboundFenceScopeEnum", ["org", "user", "device"]);
const Fence = Type.Object(
  { id: Uuid, name: Type.String(), fence_type: refTo(FenceType), scope: refTo(FenceScope) },
  { $id: "OutboundGeofence" },
);
const fenceHead = {
  ...eventHead,
  geofence: refTo(Fence),
  distance_m: Type.Number({ description: "From the centre of the geofence." }),
};
const GeofenceCrossing = dataOf("GeofenceCrossingData", { ...fenceHead, location });
const GeofenceDwell = dataOf("GeofenceDwellData", { ...fenceHead, dwell_seconds: Type.Integer(), location });

const BrokenBound = StringEnum("ThresholdBoundEnum", ["low", "high"]);
const ThresholdReach = StringEnum("OutboundThresholdScopeEnum", ["Organization", "Device", "User"]);
const Threshold = Type.Object(
  { id: Uuid, scope: refTo(ThresholdReach), low: Nullable(Type.Number()), high: Nullable(Type.Number()) },
  { $id: "OutboundThreshold" },
);
const breach = {
  ...eventHead,
  message: Type.String(),
  metric_key: Type.String(),
  value: Type.Number(),
  unit: Type.String(),
  bound: refTo(BrokenBound),
  threshold: refTo(Threshold),
};
const ThresholdBreach = dataOf("ThresholdBreachData", { ...breach, battery, location });
const ThresholdCleared = dataOf("ThresholdClearedData", { ...breach, breach_event_id: Uuid, battery, location });

const CommandOutcome = dataOf("CommandOutcomeData", {
  command_uuid: Uuid,
  command_type: Type.String(),
  status: Type.String({ description: "ack_ok, ack_error or timeout." }),
  params: FreeObject,
  result: Nullable(FreeObject),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String(), details: FreeObject })),
  created_at: Timestamp,
  sent_at: NullableTime,
  acked_at: NullableTime,
  completed_at: NullableTime,
});

const PresenceReason = StringEnum("PresenceReasonEnum", ["connected", "silence", "socket_closed", "power_off"]);
const Presence = dataOf("PresenceData", {
  event_id: Uuid,
  is_online: Type.Boolean(),
  reason: refTo(PresenceReason),
  last_seen_at: NullableTime,
  previous_change_at: NullableTime,
});

const Message = dataOf("MessageData", {
  message_id: Uuid,
  direction: Type.String({ description: "inbound (from the device) or outbound." }),
  message_type: Type.String({ description: "text or voice." }),
  device_delivery_status: Type.String(),
  text: NullableText,
  audio_url: Nullable(Type.String({ description: "A path of this API; the call needs a token with messaging:read." })),
  duration_ms: Nullable(Type.Integer()),
  sender_name: NullableText,
  sender_user_id: Nullable(Uuid),
  failure_reason: NullableText,
  ts: Timestamp,
});

const EcgRecorded = dataOf("EcgRecordedData", {
  event_id: Uuid,
  ecg_id: Uuid,
  ts: Timestamp,
  device_ts: NullableTime,
  duration_ms: Type.Integer(),
  sampling_rate_hz: Type.Number(),
  avg_hr: Nullable(Type.Number()),
  classification: Type.String(),
  quality: Type.String(),
  status: Type.String(),
});

const WebhookTest = dataOf("WebhookTestData", { message: Type.String() });

export const outboundData: Readonly<Record<WebhookEventType, TSchema>> = {
  "location.update": LocationUpdate,
  "alarm.sos": Alarm,
  "alarm.fall": Alarm,
  "alarm.low_battery": Alarm,
  "geofence.enter": GeofenceCrossing,
  "geofence.exit": GeofenceCrossing,
  "health.snapshot": HealthSnapshot,
  "command.ack": CommandOutcome,
  "command.failed": CommandOutcome,
  "device.online": Presence,
  "device.offline": Presence,
  "message.received": Message,
  "message.sent": Message,
  "message.delivered": Message,
  "message.failed": Message,
  "geofence.dwell": GeofenceDwell,
  "alarm.threshold": ThresholdBreach,
  "alarm.threshold_cleared": ThresholdCleared,
  "ecg.recorded": EcgRecorded,
  "webhook.test": WebhookTest,
};
