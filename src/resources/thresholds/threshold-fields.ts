import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";
import { describedAs, Nullable, patched, refTo } from "../../http/schemas.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import { MetricKey } from "../catalog/catalog-schemas.ts";
import { overrideModes, parseLabel, thresholdScopes, thresholdSeverities } from "./threshold-labels.ts";
import { OverrideModeLabel, ScopeLabel, SeverityLabel, type ThresholdRow, verbatimFields } from "./threshold-record.ts";

const maxSeconds = 86_400;

/** Described by its labels; the numbers and other spellings of the labels are accepted too. */
const labelled = (label: TSchema, more: object = {}) =>
  describedAs(
    Type.Unsafe<number | string>({
      anyOf: [{ type: "integer" }, { type: "string" }],
      [messageKeyword]: "Expected a label or its number.",
      ...more,
    }),
    Type.Unsafe({ allOf: [refTo(label)], ...more }),
  );

const seconds = { minimum: 0, maximum: maxSeconds };
const bound = Nullable(Type.Number({ default: null }));
const device = Type.String({ description: "IMEI or id of the device; only for scope Device.", default: null });
const user = Type.String({ format: "uuid", description: "Only for scope User.", default: null });

export const AlertThresholdRequest = Type.Object(
  {
    scope: labelled(ScopeLabel),
    user: Type.Optional(Nullable(user)),
    device: Type.Optional(Nullable(device)),
    metric_key: refTo(MetricKey),
    low: Type.Optional(bound),
    high: Type.Optional(bound),
    severity: Type.Optional(labelled(SeverityLabel, { default: "Warning" })),
    override_mode: Type.Optional(labelled(OverrideModeLabel, { default: "Replace" })),
    is_active: Type.Optional(Type.Boolean({ default: true })),
    min_duration_seconds: Type.Optional(Type.Integer({ ...seconds, default: 0 })),
    clear_margin: Type.Optional(Type.Number({ minimum: 0, default: 0 })),
    cooldown_seconds: Type.Optional(Type.Integer({ ...seconds, default: 300 })),
  },
  { $id: "AlertThresholdRequest" },
);

export const PatchedAlertThresholdRequest = patched("PatchedAlertThresholdRequest", AlertThresholdRequest.properties);
export type PatchedAlertThresholdRequest = Static<typeof PatchedAlertThresholdRequest>;

const enumerations = {
  scope: thresholdScopes,
  severity: thresholdSeverities,
  override_mode: overrideModes,
} as const;

type Verbatim = (typeof verbatimFields)[number];

/** What a caller can write, in its stored form; `user` and `device` as they were given. */
export interface ThresholdFields extends Pick<ThresholdRow, Verbatim | keyof typeof enumerations> {
  user: string | null;
  device: string | null;
}
export type GivenFields = Partial<ThresholdFields>;

/** The fields a body speaks of; after POST, whose schema fills in defaults, all of them. */
export function readFields(body: PatchedAlertThresholdRequest): GivenFields {
  const errors: FieldErrors = {};
  const given: GivenFields = pick(body, [...verbatimFields, "user", "device"]);
  for (const [field, labels] of Object.entries(enumerations)) {
    const value = body[field as keyof typeof enumerations];
    if (value === undefined) continue;
    const number = parseLabel(labels, value);
    if (number === undefined) errors[field] = [`"${String(value).slice(0, 100)}" is not a valid choice.`];
    else Object.assign(given, { [field]: number });
  }
  if (Object.keys(errors).length > 0) throw validationError(errors);
  return given;
}

/** The rules between fields, on what a write leaves and not on what it says. */
export function ruleErrors({ scope, user, device, low, high }: ThresholdFields): FieldErrors {
  const errors: FieldErrors = {};
  const hold = (field: "user" | "device", value: string | null, requiredScope: keyof typeof thresholdScopes): void => {
    const matchesScope = scope === thresholdScopes[requiredScope];
    if (matchesScope && value === null) errors[field] = [`This field is required when scope is ${requiredScope}.`];
    if (!matchesScope && value !== null) errors[field] = [`This field must be null unless scope is ${requiredScope}.`];
  };
  hold("user", user, "User");
  hold("device", device, "Device");
  if (low === null && high === null) errors.non_field_errors = ["At least one of low, high is required."];
  if (low !== null && high !== null && low > high) errors.low = ["low must be less than or equal to high."];
  return errors;
}
