import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { metricKeys } from "../../codecs/metric-keys.ts";
import { protocolSlugs } from "../../codecs/protocols.ts";
import { COMMAND_TYPES } from "./capability.ts";
import { deviceTypes } from "./device-types.ts";

/** The shape of the data files. Models name codes; `capabilities.json` says once what a code means. */

const exact = { additionalProperties: false };
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  Type.Unsafe<Values[number]>({ type: "string", enum: [...values] });

const Code = Type.String({ pattern: "^[a-z][a-z0-9_]{0,49}$" });
const Slug = Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" });
const Text = Type.String({ minLength: 1, maxLength: 100 });
const Codes = Type.Array(Code, { uniqueItems: true });
const described = { label: Text, category: Code };
const commandFields = {
  requires_ack: Type.Boolean(),
  ack_timeout_seconds: nullable(Type.Integer({ minimum: 1 })),
  params_schema: Type.Unsafe<Record<string, unknown>>({ type: "object" }),
};
const messagingFields = {
  max_length: nullable(Type.Integer({ minimum: 1 })),
  max_duration_ms: nullable(Type.Integer({ minimum: 1 })),
};
const spokenFields = {
  languages: Type.Optional(Type.Array(Type.String(), { minItems: 1, uniqueItems: true })),
  voices: Type.Optional(Type.Array(Type.String(), { minItems: 1, uniqueItems: true })),
};
/** The event types of section 7 that a device itself raises. */
const DEVICE_EVENT_TYPES = [
  "sos",
  "fall",
  "low_battery",
  "power_off",
  "power_on",
  "not_worn",
  "ecg_recorded",
  "ecg_abnormal",
  "inactivity",
  "overspeed",
  "tamper",
  "charging_started",
  "charging_stopped",
  "sim_changed",
  "custom",
] as const;

export const CapabilitiesFile = Type.Object(
  {
    commands: Type.Array(Type.Object({ code: oneOf(COMMAND_TYPES), ...described, ...commandFields }, exact)),
    telemetry: Type.Array(
      Type.Object(
        {
          code: Code,
          ...described,
          metric_key: oneOf(metricKeys),
          unit: Text,
          value_type: oneOf(["integer", "number"]),
          min: Type.Number(),
          max: Type.Number(),
          loinc: nullable(Type.String({ pattern: "^[0-9]{1,5}-[0-9]$" })),
        },
        exact,
      ),
    ),
    messaging: Type.Array(
      Type.Object({ code: oneOf(["text", "voice", "tts"]), ...described, ...messagingFields, ...spokenFields }, exact),
    ),
    // The code is the event type, except where a command has taken the name: codes are unique within a model.
    events: Type.Array(Type.Object({ code: Code, ...described, event_type: oneOf(DEVICE_EVENT_TYPES) }, exact)),
    features: Type.Array(Type.Object({ code: Code, ...described }, exact)),
  },
  exact,
);

export const ProtocolFile = Type.Object(
  {
    protocol: Type.Object(
      {
        slug: oneOf(protocolSlugs),
        name: Text,
        vendor: Text,
        transport: oneOf(["tcp", "udp", "http"]),
        default_port: Type.Integer({ minimum: 1, maximum: 65535 }),
        is_active: Type.Boolean(),
        docs_url: nullable(Type.String({ pattern: "^https://" })),
      },
      exact,
    ),
    models: Type.Array(
      Type.Object(
        {
          slug: Slug,
          name: Text,
          manufacturer: Text,
          device_type: oneOf(deviceTypes),
          image_url: nullable(Type.String({ pattern: "^https://" })),
          is_active: Type.Boolean(),
          has_ecg: Type.Boolean(),
          traits: Type.Unsafe<Record<string, unknown>>({ type: "object" }),
          commands: Codes,
          telemetry: Codes,
          messaging: Codes,
          events: Codes,
          features: Codes,
          /** Where the model differs from the shared definition, by code. */
          differences: Type.Optional(
            Type.Record(
              Code,
              Type.Partial(
                Type.Object(
                  { supported: Type.Boolean(), ...commandFields, ...messagingFields, ...spokenFields },
                  exact,
                ),
              ),
            ),
          ),
        },
        exact,
      ),
      { minItems: 1 },
    ),
  },
  exact,
);

export type CapabilitiesFile = Static<typeof CapabilitiesFile>;
export type ProtocolFile = Static<typeof ProtocolFile>;
export type ModelData = ProtocolFile["models"][number];
export type Differences = NonNullable<ModelData["differences"]>[string];
