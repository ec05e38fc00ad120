import { type TSchema, Type } from "@sinclair/typebox";
import { Nullable, refTo, Timestamp, Uuid } from "../http/schemas.ts";
import { allWebhookEventTypes, type WebhookEventType } from "../outbox/webhook-event-types.ts";
import { outboundData } from "./outbound-data.ts";

/** The envelope of section 19.2, one schema per type, so that the type tells which `data` there is. */

const OutboundDevice = Type.Object(
  { uid: Type.String({ description: "IMEI." }), imei: Type.String({ description: "The same." }) },
  { $id: "OutboundDevice" },
);

const nameOf = (type: WebhookEventType): string =>
  `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const envelopeOf = (type: WebhookEventType): TSchema =>
  Type.Object(
    {
      id: Type.String({
        format: "uuid",
        description: "UUIDv7 that increases within an integration; identifies duplicates and is the replay cursor.",
      }),
      // The pattern says it once more, for clients in Go: they do not check enumerations, and took one event for another.
      type: Type.Unsafe<string>({ type: "string", enum: [type], pattern: `^${type.replaceAll(".", "[.]")}$` }),
      occurred_at: Timestamp,
      partner_integration_id: Uuid,
      device: refTo(OutboundDevice),
      data: refTo(outboundData[type]),
    },
    { $id: nameOf(type) },
  );

export const outboundEnvelopes = Object.fromEntries(
  allWebhookEventTypes.map((type) => [type, envelopeOf(type)]),
) as Readonly<Record<WebhookEventType, TSchema>>;

const OutboundEvent = Type.Unsafe<Record<string, unknown>>({
  $id: "OutboundEvent",
  oneOf: Object.values(outboundEnvelopes).map((schema) => refTo(schema)),
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(
      allWebhookEventTypes.map((type) => [type, `#/components/schemas/${nameOf(type)}`] as const),
    ),
  },
});

export const OutboundEventPage = Type.Object(
  {
    data: Type.Array(refTo(OutboundEvent)),
    next_cursor: Nullable(
      Type.String({
        format: "uuid",
        description: "The id of the last row, to send as the next `since`; null at the end of the log.",
      }),
    ),
    has_more: Type.Boolean(),
  },
  { $id: "OutboundEventPage" },
);
