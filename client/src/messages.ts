import { listOf, type QueryOf } from "./lists.ts";
import type { Message, MessageSpeechRequest, MessageTextRequest } from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { multipartBody, toDownload, type Upload } from "./uploads.ts";

export const makeMessages = (transport: Transport) => {
  const { call, open } = transport;
  return {
    list: (device_uid: string, query: QueryOf<"devices_messages_list"> = {}, options?: CallOptions) =>
      listOf(transport, "devices_messages_list", { path: { device_uid }, query }, options),
    get: (device_uid: string, id: string, options?: CallOptions) =>
      call("devices_messages_retrieve", { path: { device_uid, id } }, options),
    delete: (device_uid: string, id: string, options?: CallOptions) =>
      call("devices_messages_destroy", { path: { device_uid, id } }, options),
    bulkDelete: (device_uid: string, ids: string[], options?: CallOptions) =>
      call("devices_messages_bulk_delete_create", { path: { device_uid }, body: { ids } }, options),
    sendText: (device_uid: string, body: MessageTextRequest, options?: CallOptions) =>
      call("devices_messages_send_text_create", { path: { device_uid }, body }, options),
    sendSpeech: (device_uid: string, body: MessageSpeechRequest, options?: CallOptions) =>
      call("devices_messages_send_tts_create", { path: { device_uid }, body }, options),
    uploadVoice: async (
      device_uid: string,
      upload: Upload & { senderName?: string | undefined },
      options?: CallOptions,
    ): Promise<Message> => {
      const rawBody = multipartBody(upload, { sender_name: upload.senderName });
      const answer = await open(
        "devices_messages_upload_voice_create",
        { path: { device_uid } },
        { ...options, rawBody },
      );
      return (await answer.json()) as Message;
    },
    /** The recording as a stream; `range` asks for a part of it ("bytes=0-1023"). */
    audio: async (device_uid: string, id: string, { range, ...options }: CallOptions & { range?: string } = {}) => {
      const headers: Record<string, string> = range === undefined ? {} : { range };
      return toDownload(
        await open("devices_messages_audio_retrieve", { path: { device_uid, id } }, { ...options, headers }),
      );
    },
  };
};
