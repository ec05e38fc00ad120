import { Type } from "@sinclair/typebox";
import { type CallOf, collection, type ObjectContext } from "../../http/collection.ts";
import { choiceParam } from "../../http/query-params.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { type Answer, created, ok, type Route } from "../../http/route.ts";
import { refTo } from "../../http/schemas.ts";
import { notFound, rangeNotSatisfiable, tooBusy, unsupportedMediaType, validationError } from "../../lib/errors.ts";
import { getOperableDevice } from "../assignments/operable-device.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { readRange } from "./byte-range.ts";
import {
  audioFormOf,
  chooseSpeech,
  MessageBulkDelete,
  MessageBulkDeleteRequest,
  MessageSpeechRequest,
  MessageTextRequest,
  MessageVoiceRequest,
  messagingNotSupported,
  requireMessaging,
  senderOf,
} from "./message-fields.ts";
import { listMessages, messageList } from "./message-list.ts";
import { Message, toMessage } from "./message-record.ts";
import {
  createMessage,
  deleteMessages,
  findAudio,
  getMessage,
  isSpeechFull,
  type NewMessage,
} from "./message-store.ts";
import type { VoiceTools } from "./voice-tools.ts";

type Loading = Pick<ObjectContext, "db" | "principal" | "params">;

const Recording = Type.Unsafe<Buffer>({ type: "string", format: "binary" });
const maxUploadBytes = 10 * 1_048_576;

const messages = collection({
  path: "/api/v1/devices/:device_uid/messages/",
  operations: "devices_messages",
  tag: "Messages",
  feature: "messaging",
  reads: { partners: ["messaging:read"], people: "VIEWER" },
  writes: { partners: ["messaging:write"], people: "USER" },
  params: { device_uid: "imei", id: "uuid" },
  key: "id",
});

const visible = ({ db, principal, params }: Loading): Promise<DeviceRow> =>
  getVisibleDevice(db, principal, params.device_uid ?? "");
const operable = ({ db, principal, params }: Loading): Promise<DeviceRow> =>
  getOperableDevice(db, principal, params.device_uid ?? "");

const recordFields = Object.keys(Message.properties);

export interface MessageRouteOptions {
  catalog: Catalog;
  voice: VoiceTools;
  /** How long a message waits for its device. */
  ttlSeconds: number;
}

export function messageRoutes({ catalog, voice, ttlSeconds }: MessageRouteOptions): Route[] {
  const send = async (
    { body, principal, object: device, actor, now, transaction, link }: CallOf<object, DeviceRow>,
    message: Pick<NewMessage, "messageType" | "text" | "speech" | "recording">,
  ): Promise<Answer> => {
    const given = body as { sender_name?: string };
    const row = await transaction(async (tx) => {
      const made = await createMessage(
        tx,
        device,
        {
          ...message,
          ...senderOf(principal, given.sender_name),
          commandUuid: null,
          expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
        },
        actor,
        now,
      );
      const isWritable = (field: string): boolean =>
        field === "sender_name" || (field === "text" && !message.recording);
      const fixed = recordFields.filter((field) => !isWritable(field));
      refuseReadOnly(body, fixed, [toMessage(made)], { isCreate: true });
      return made;
    });
    return created(toMessage(row), { Location: link(`/api/v1/devices/${device.uid}/messages/${row.id}/`) });
  };

  return [
    messages.list({
      summary: "Messages to and from a device, newest first",
      list: messageList,
      item: Message,
      load: visible,
      rows: ({ db, object, list }) => listMessages(db, object, list()),
      toItem: toMessage,
    }),
    messages.post("send-text/", {
      summary: "Send a text to a device",
      description: "Up to 200 characters. The message waits while the device is offline, by default for at most a day.",
      isIdempotent: true,
      body: MessageTextRequest,
      responses: { 201: refTo(Message) },
      load: operable,
      handle: async (context) => {
        await requireMessaging(context.db, context.object, catalog, "text");
        return send(context, { messageType: "text", text: context.body.text, speech: null, recording: null });
      },
    }),
    messages.post("send-tts/", {
      summary: "Speak a text on a device",
      description: "Up to 500 characters, spoken by the service in at most 30 seconds and sent as a voice message.",
      isIdempotent: true,
      body: MessageSpeechRequest,
      responses: { 201: refTo(Message) },
      load: operable,
      handle: async (context) => {
        const { body, principal } = context;
        const capability = await requireMessaging(context.db, context.object, catalog, "tts");
        if (!voice.speaks) throw messagingNotSupported("tts");
        if (await isSpeechFull(context.db, context.organizationId)) throw tooBusy(30);
        const speech = chooseSpeech(capability, {
          language: body.language ?? principal.organization.defaultLocale,
          voice: body.voice ?? "default",
        });
        return send(context, { messageType: "voice", text: body.text, speech, recording: null });
      },
    }),
    messages.post("upload-voice/", {
      summary: "Send a recording to a device",
      description: "The format is detected from the content, not from the file name or media type.",
      isIdempotent: true,
      file: { field: "file", maxBytes: maxUploadBytes },
      body: MessageVoiceRequest,
      responses: { 201: refTo(Message) },
      load: operable,
      handle: async (context) => {
        const { object: device, file } = context;
        await requireMessaging(context.db, device, catalog, "voice");
        if (!file) throw validationError({ file: ["This field is required."] });
        const form = audioFormOf(catalog, device.device_model_slug);
        const audio = await voice.toDeviceAudio(context.organizationId, file.bytes, form);
        if (audio.kind === "not_audio") throw unsupportedMediaType("The file is not audio of an accepted format.");
        if (audio.kind === "too_long") {
          throw validationError({ file: [`Audio is longer than ${form.maxDurationMs / 1000} seconds.`] });
        }
        const recording = { bytes: audio.amr, mimeType: "audio/amr", durationMs: audio.durationMs };
        return send(context, { messageType: "voice", text: null, speech: null, recording });
      },
    }),
    messages.post("bulk-delete/", {
      summary: "Delete several messages of a device",
      body: MessageBulkDeleteRequest,
      responses: { 200: refTo(MessageBulkDelete) },
      load: operable,
      handle: async ({ object: device, body, actor, now, transaction }) => {
        const ids = [...new Set(body.ids.map((id) => id.toLowerCase()))];
        const rows = await transaction((tx) => deleteMessages(tx, device, ids, actor, now));
        const deleted = new Set(rows.map(({ id }) => id));
        return ok({ deleted: deleted.size, not_found: ids.filter((id) => !deleted.has(id)) });
      },
    }),
    messages.retrieve({
      summary: "One message",
      item: Message,
      load: async (context) => getMessage(context.db, await visible(context), context.params.id ?? ""),
      handle: async ({ object }) => toMessage(object),
    }),
    messages.destroy({
      summary: "Delete a message and its recording",
      description: "A message that is not being sent yet is withdrawn.",
      load: operable,
      handle: async ({ object: device, params, actor, now, transaction }) => {
        const rows = await transaction((tx) => deleteMessages(tx, device, [params.id ?? ""], actor, now));
        if (rows.length === 0) throw notFound();
      },
    }),
    messages.get(":id/audio/", {
      summary: "The recording of a voice message",
      description:
        "The recording that the device receives or sent (AMR), or the same recording as WAV. Supports byte ranges.",
      query: { format: choiceParam("Default amr.", ["amr", "wav"]) },
      produces: ["audio/amr", "audio/amr-wb", "audio/wav", "application/octet-stream"],
      responses: { 200: Recording, 206: Recording },
      errors: [416],
      load: async (context) => {
        const device = await visible(context);
        const audio = await findAudio(context.db, device, context.params.id ?? "");
        if (!audio) throw notFound();
        return audio;
      },
      handle: async ({ object, organizationId, query, header }) => {
        const isWav = query().format === "wav";
        const bytes = isWav ? await voice.toWav(organizationId, object.bytes) : object.bytes;
        if (!bytes) throw notFound("The recording cannot be read.");
        return rangeAnswer(bytes, isWav ? "audio/wav" : object.mime_type, header("range"));
      },
    }),
  ];
}

function rangeAnswer(bytes: Buffer, mimeType: string, header: string | undefined): Answer {
  const range = readRange(header, bytes.length);
  if (range.kind === "unsatisfiable") throw rangeNotSatisfiable(bytes.length);
  const headers = { "Content-Type": mimeType, "Accept-Ranges": "bytes" };
  if (range.kind === "whole") {
    return { status: 200, body: bytes, headers: { ...headers, "Content-Length": String(bytes.length) } };
  }
  const { first, last } = range;
  return {
    status: 206,
    body: bytes.subarray(first, last + 1),
    headers: {
      ...headers,
      "Content-Length": String(last - first + 1),
      "Content-Range": `bytes ${first}-${last}/${bytes.length}`,
    },
  };
}
