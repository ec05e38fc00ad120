import { type Static, Type } from "@sinclair/typebox";
import { metricKeys } from "../../codecs/metric-keys.ts";
import { FreeObject, Nullable, refTo, StringEnum } from "../../http/schemas.ts";
import { CAPABILITY_KINDS, type Capability as CatalogCapability } from "./capability.ts";
import { deviceTypes } from "./device-types.ts";

const Transport = StringEnum("TransportEnum", ["tcp", "udp", "http"]);
export const DeviceType = StringEnum("DeviceTypeEnum", deviceTypes);
export const MetricKey = StringEnum("MetricKeyEnum", metricKeys);
const CapabilityKind = StringEnum("CapabilityKindEnum", CAPABILITY_KINDS);
const CapabilitySource = StringEnum("CapabilitySourceEnum", ["catalog", "device"]);
const ValueType = StringEnum("ValueTypeEnum", ["integer", "number"]);

export const Protocol = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    vendor: Type.String(),
    transport: refTo(Transport),
    default_port: Type.Integer(),
    is_active: Type.Boolean(),
    model_count: Type.Integer(),
    docs_url: Nullable(Type.String()),
  },
  { $id: "Protocol" },
);

export const DeviceModel = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    manufacturer: Type.String(),
    protocol_slug: Type.String(),
    device_type: refTo(DeviceType),
    image_url: Nullable(Type.String()),
    is_active: Type.Boolean(),
    metrics: Type.Array(refTo(MetricKey), { description: "Telemetry keys the model reports." }),
    has_ecg: Type.Boolean(),
    capability_count: Type.Integer({ description: "Number of supported capabilities." }),
  },
  { $id: "DeviceModel" },
);

export const Capability = Type.Object(
  {
    code: Type.String({ description: "Unique within a model. For a command, its command_type." }),
    kind: refTo(CapabilityKind),
    label: Type.String(),
    category: Type.String(),
    supported: Type.Boolean(),
    requires_ack: Type.Boolean({ description: "False unless the capability is a command." }),
    ack_timeout_seconds: Nullable(Type.Integer({ description: "Null unless the capability is a command." })),
    params_schema: Nullable(
      Type.Unsafe<Record<string, unknown>>({
        ...FreeObject,
        description: "JSON Schema of `params`; null unless the capability is a command.",
      }),
    ),
    source: refTo(CapabilitySource),
    overridden: Type.Boolean({ description: "True when the device differs from its model." }),
    metric_key: Type.Optional(refTo(MetricKey)),
    unit: Type.Optional(Type.String({ description: "Telemetry only." })),
    value_type: Type.Optional(refTo(ValueType)),
    min: Type.Optional(Type.Number({ description: "Telemetry only: lowest accepted value." })),
    max: Type.Optional(Type.Number({ description: "Telemetry only: highest accepted value." })),
    loinc: Type.Optional(Nullable(Type.String({ description: "Telemetry only." }))),
    max_length: Type.Optional(Nullable(Type.Integer({ description: "Messaging only: characters." }))),
    max_duration_ms: Type.Optional(Nullable(Type.Integer({ description: "Messaging only." }))),
    languages: Type.Optional(Type.Array(Type.String(), { description: "Synthesized speech only." })),
    voices: Type.Optional(Type.Array(Type.String(), { description: "Synthesized speech only." })),
  },
  { $id: "Capability" },
);
export type Capability = Static<typeof Capability>;

/** The record as the API shows it: a model without a wait of its own shows the configured one. */
export function toCapability(capability: CatalogCapability, ackTimeoutSeconds: number): Capability {
  if (capability.kind !== "command") {
    return { ...capability, requires_ack: false, ack_timeout_seconds: null, params_schema: null } as Capability;
  }
  return { ...capability, ack_timeout_seconds: capability.ack_timeout_seconds ?? ackTimeoutSeconds };
}
