import type { MetricKey } from "../../codecs/metric-keys.ts";

/** What a model or one device can do. Records as the API shows them (section 15), one shape per kind. */

/** The command types of section 8.2; a model accepts some of them. */
export const COMMAND_TYPES = [
  "locate_now",
  "find_device",
  "send_message",
  "set_working_mode",
  "set_timezone",
  "restart",
  "power_off",
  "factory_reset",
  "test_heart_rate",
  "test_blood_pressure",
  "test_temperature",
  "test_blood_oxygen",
  "calibrate_bp",
  "set_report_interval",
  "set_sos_numbers",
  "set_contacts",
  "set_fall_detection",
  "set_heart_rate_interval",
  "set_temperature_interval",
] as const;

export const CAPABILITY_KINDS = ["command", "telemetry", "messaging", "event", "feature"] as const;

export type CommandType = (typeof COMMAND_TYPES)[number];
export type CapabilityKind = (typeof CAPABILITY_KINDS)[number];
export type ParamsSchema = Readonly<Record<string, unknown>>;

interface CapabilityBase {
  readonly code: string;
  readonly label: string;
  readonly category: string;
  readonly supported: boolean;
  readonly source: "catalog" | "device";
  readonly overridden: boolean;
}

export interface CommandCapability extends CapabilityBase {
  readonly kind: "command";
  readonly requires_ack: boolean;
  /** Null: the service's configured wait counts (section 26.1, 8.3). */
  readonly ack_timeout_seconds: number | null;
  readonly params_schema: ParamsSchema;
}

export interface TelemetryCapability extends CapabilityBase {
  readonly kind: "telemetry";
  readonly metric_key: MetricKey;
  readonly unit: string;
  readonly value_type: "integer" | "number";
  readonly min: number;
  readonly max: number;
  readonly loinc: string | null;
}

export interface MessagingCapability extends CapabilityBase {
  readonly kind: "messaging";
  readonly max_length: number | null;
  readonly max_duration_ms: number | null;
  readonly languages?: readonly string[];
  readonly voices?: readonly string[];
}

export interface PlainCapability extends CapabilityBase {
  readonly kind: "event" | "feature";
}

export type Capability = CommandCapability | TelemetryCapability | MessagingCapability | PlainCapability;
