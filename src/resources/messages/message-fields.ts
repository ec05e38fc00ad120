import { Type } from "@sinclair/typebox";
import type { Db } from "../../db/database.ts";
import type { Principal } from "../../http/principal.ts";
import { validationError } from "../../lib/errors.ts";
import type { MessagingCapability } from "../catalog/capability.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { capabilitiesOfDevice } from "../devices/capability-override-store.ts";
import type { DeviceRow } from "../devices/device-store.ts";
import type { DeviceAudioForm } from "./voice-tools.ts";

const senderName = {
  sender_name: Type.Optional(
    Type.String({ maxLength: 50, description: "Default: the integration's name, or the full name of the person." }),
  ),
};

export const MessageTextRequest = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 200 }), ...senderName },
  { $id: "MessageTextRequest" },
);

export const MessageSpeechRequest = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 500 }),
    language: Type.Optional(Type.String({ description: "Default: the organization's locale.", examples: ["it"] })),
    voice: Type.Optional(Type.String({ default: "default" })),
    ...senderName,
  },
  { $id: "MessageSpeechRequest" },
);

export const MessageVoiceRequest = Type.Object(
  {
    file: Type.String({ format: "binary", description: "AMR, M4A, MP3, OGG or WAV; up to 10 MB and 30 seconds." }),
    ...senderName,
  },
  { $id: "MessageVoiceRequest" },
);

export const MessageBulkDeleteRequest = Type.Object(
  { ids: Type.Array(Type.String({ format: "uuid" }), { minItems: 1, maxItems: 100 }) },
  { $id: "MessageBulkDeleteRequest" },
);

export const MessageBulkDelete = Type.Object(
  { deleted: Type.Integer(), not_found: Type.Array(Type.String({ format: "uuid" })) },
  { $id: "MessageBulkDelete" },
);

/** Who a message is from, for people: the name given, or that of the caller. */
export function senderOf(
  principal: Principal,
  given: string | undefined,
): { senderName: string; senderUserId: string | null } {
  const own = principal.kind === "partner" ? principal.partner.integrationName : principal.person.fullName;
  return {
    senderName: given === undefined || given === "" ? own : given,
    senderUserId: principal.kind === "partner" ? null : principal.id,
  };
}

export type MessagingCode = "text" | "voice" | "tts";

const kinds: Record<MessagingCode, string> = {
  text: "text messages",
  voice: "voice messages",
  tts: "spoken texts",
};

export async function requireMessaging(
  db: Db,
  device: DeviceRow,
  catalog: Catalog,
  code: MessagingCode,
): Promise<MessagingCapability> {
  const capabilities = await capabilitiesOfDevice(db, device, catalog);
  const found = capabilities.find((capability) => capability.kind === "messaging" && capability.code === code);
  if (!found?.supported) throw messagingNotSupported(code);
  return found as MessagingCapability;
}

export const messagingNotSupported = (code: MessagingCode) =>
  validationError({ non_field_errors: [`This device does not support ${kinds[code]}.`] });

/** The language as the capability lists it: `it-IT` is spoken as `it`. */
export function chooseSpeech(
  { languages = [], voices = [] }: MessagingCapability,
  given: { language: string; voice: string },
): { language: string; voice: string } {
  const wanted = given.language.toLowerCase().replaceAll("_", "-");
  const language =
    languages.find((one) => one.toLowerCase() === wanted) ??
    languages.find((one) => one.toLowerCase() === wanted.split("-", 1)[0]);
  const errors: Record<string, string[]> = {};
  if (language === undefined) errors.language = [`"${given.language.slice(0, 50)}" is not a valid choice.`];
  if (!voices.includes(given.voice)) errors.voice = [`"${given.voice.slice(0, 50)}" is not a valid choice.`];
  if (language === undefined || errors.voice) throw validationError(errors);
  return { language, voice: given.voice };
}

const defaultForm: DeviceAudioForm = { bitRate: 12_200, maxDurationMs: 30_000 };

/** The recordings a model plays. */
export function audioFormOf(catalog: Catalog, modelSlug: string): DeviceAudioForm {
  if (!catalog.findModel(modelSlug)) return defaultForm;
  const traits = catalog.traitsOf(modelSlug);
  const voice = catalog.capabilitiesOf(modelSlug).find(({ kind, code }) => kind === "messaging" && code === "voice");
  const voiceLimitMs = (voice as MessagingCapability | undefined)?.max_duration_ms;
  return {
    bitRate: "audio" in traits ? traits.audio.bit_rate : defaultForm.bitRate,
    maxDurationMs: Math.min(voiceLimitMs ?? defaultForm.maxDurationMs, defaultForm.maxDurationMs),
  };
}
