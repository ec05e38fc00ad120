import { type Static, Type } from "@sinclair/typebox";
import { sql } from "../../db/sql.ts";
import { Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";

export const messageDirections = ["inbound", "outbound"] as const;
export const messageTypes = ["text", "voice"] as const;
const deliveryStatuses = ["pending", "processing", "ready", "sending", "delivered", "failed"] as const;
const failureReasons = [
  "tts_failed",
  "transcode_failed",
  "device_offline_expired",
  "device_rejected",
  "no_ack",
] as const;
export type MessageType = (typeof messageTypes)[number];
export type DeliveryStatus = (typeof deliveryStatuses)[number];
export type FailureReason = (typeof failureReasons)[number];

const MessageDirection = StringEnum("MessageDirectionEnum", messageDirections);
const MessageKind = StringEnum("MessageTypeEnum", messageTypes);
const DeliveryStatus = StringEnum("DeviceDeliveryStatusEnum", deliveryStatuses);
const FailureReason = StringEnum("MessageFailureReasonEnum", failureReasons);

const MessageAudio = Type.Object(
  {
    available: Type.Boolean({ description: "False until the text has been converted to speech." }),
    url: Type.String({ description: "Path of the recording.", examples: ["/api/v1/devices/…/messages/…/audio/"] }),
    mime_type: Type.String({ examples: ["audio/amr"] }),
    duration_ms: Nullable(Type.Integer()),
    size_bytes: Nullable(Type.Integer()),
  },
  { $id: "MessageAudio" },
);

export const Message = Type.Object(
  {
    id: Uuid,
    device_uid: Type.String({ description: "IMEI, 15 digits." }),
    direction: refTo(MessageDirection),
    message_type: refTo(MessageKind),
    text: Nullable(Type.String({ description: "Null for recorded voice." })),
    is_tts: Type.Boolean({ description: "A text that the service speaks." }),
    audio: Nullable(refTo(MessageAudio)),
    sender_user_id: Nullable(Type.String({ format: "uuid", description: "Null for a partner and for a device." })),
    sender_name: Type.String(),
    device_delivery_status: refTo(DeliveryStatus),
    failure_reason: Nullable(refTo(FailureReason)),
    command_uuid: Nullable(Type.String({ format: "uuid", description: "The command that sends it, if one does." })),
    ts: Timestamp,
    created_at: Timestamp,
    delivered_at: Nullable(Timestamp),
    read_at: Nullable(Timestamp),
  },
  { $id: "Message" },
);
export type Message = Static<typeof Message>;

export interface MessageRow {
  id: string;
  organization_id: string;
  device_id: string;
  device_uid: string;
  direction: (typeof messageDirections)[number];
  message_type: MessageType;
  status: DeliveryStatus;
  text: string | null;
  is_tts: boolean;
  mime_type: string | null;
  duration_ms: number | null;
  size_bytes: number | null;
  sender_user_id: string | null;
  sender_name: string;
  failure_reason: FailureReason | null;
  command_uuid: string | null;
  ts: Date;
  created_at: Date;
  delivered_at: Date | null;
  read_at: Date | null;
}

/** Columns of a MessageRow, of the tables messages as `m` and devices as `d`. */
export const messageColumns = sql`m.id, m.organization_id, m.device_id, d.uid as device_uid, m.direction, m.message_type,
  m.status, m.text, m.is_tts, m.mime_type, m.duration_ms, m.size_bytes, m.sender_user_id, m.sender_name, m.failure_reason,
  m.command_uuid, m.ts, m.created_at, m.delivered_at, m.read_at`;
export const messageTables = sql`messages m
  join devices d on d.id = m.device_id and d.organization_id = m.organization_id`;

const audioPath = ({ device_uid, id }: MessageRow): string => `/api/v1/devices/${device_uid}/messages/${id}/audio/`;

export const toMessage = (row: MessageRow): Message => ({
  id: row.id,
  device_uid: row.device_uid,
  direction: row.direction,
  message_type: row.message_type,
  text: row.text,
  is_tts: row.is_tts,
  audio:
    row.message_type === "text"
      ? null
      : {
          available: row.size_bytes !== null,
          url: audioPath(row),
          mime_type: row.mime_type ?? "audio/amr",
          duration_ms: row.duration_ms,
          size_bytes: row.size_bytes,
        },
  sender_user_id: row.sender_user_id,
  sender_name: row.sender_name,
  device_delivery_status: row.status,
  failure_reason: row.failure_reason,
  command_uuid: row.command_uuid,
  ts: row.ts.toISOString(),
  created_at: row.created_at.toISOString(),
  delivered_at: row.delivered_at?.toISOString() ?? null,
  read_at: row.read_at?.toISOString() ?? null,
});

type MessageEventType = "message.received" | "message.sent" | "message.delivered" | "message.failed";

/** The outbound event of a transition (section 19.3). A failed message offers no recording to listen to. */
export const messageEntry = (type: MessageEventType, row: MessageRow, occurredAtMs: number): OutboundEntry => ({
  organizationId: row.organization_id,
  type,
  deviceUid: row.device_uid,
  occurredAtMs,
  data: {
    message_id: row.id,
    direction: row.direction,
    message_type: row.message_type,
    device_delivery_status: row.status,
    text: row.text,
    audio_url: row.size_bytes === null || row.status === "failed" ? null : audioPath(row),
    duration_ms: row.duration_ms,
    sender_name: row.sender_name,
    sender_user_id: row.sender_user_id,
    failure_reason: row.failure_reason,
    ts: row.ts.toISOString(),
  },
});
