import { type Static, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";
import { describedAs, Nullable, patched, refTo } from "../../http/schemas.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import { GeofenceScheduleRequest, readSchedule } from "./fence-schedule.ts";
import { Center, type FenceFields, FenceScope, FenceType, verbatimFields } from "./geofence-record.ts";

const maxDwellSeconds = 86_400;
const maxRadiusM = 50_000;

const dwell = Type.Integer({
  minimum: 1,
  maximum: maxDwellSeconds,
  description: "Required when trigger_on_dwell is true.",
});
const schedule = { ...GeofenceScheduleRequest, description: "When the geofence creates events; null means always." };

/** Writable fields, all of them: POST and PUT. What is left out has its default. */
const fullFields = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.Optional(Type.String({ maxLength: 500, default: "" })),
  fence_type: Type.Optional(Type.Unsafe<"circle">({ allOf: [refTo(FenceType)], default: "circle" })),
  center: refTo(Center),
  radius: Type.Number({ minimum: 1, maximum: maxRadiusM, description: "Metres." }),
  trigger_on_enter: Type.Optional(Type.Boolean({ default: true })),
  trigger_on_exit: Type.Optional(Type.Boolean({ default: true })),
  trigger_on_dwell: Type.Optional(Type.Boolean({ default: false })),
  dwell_threshold_seconds: Type.Optional(Nullable({ ...dwell, default: null })),
  schedule: Type.Optional(Nullable({ ...schedule, default: null })),
  is_active: Type.Optional(Type.Boolean({ default: true })),
};

const groupText = '"group" is not available to partners.';

const scopeText = {
  default: "device",
  description: "What the fence applies to. `group` is refused, `org` needs the feature `geofence_scoping`.",
};
const scope = describedAs(
  Type.Unsafe<Static<typeof FenceScope>>({
    ...scopeText,
    allOf: [refTo(FenceScope), { not: { enum: ["group"] }, [messageKeyword]: groupText }],
  }),
  Type.Unsafe({ ...scopeText, allOf: [refTo(FenceScope)] }),
);

export const GeofenceRequest = Type.Object(
  {
    ...fullFields,
    scope: Type.Optional(scope),
    user: Type.Optional(
      Nullable(
        Type.String({ format: "uuid", description: "Only for scope user; returned as user_id.", default: null }),
      ),
    ),
  },
  { $id: "GeofenceRequest" },
);
export type GeofenceRequest = Static<typeof GeofenceRequest>;

export const GeofenceUpdateRequest = Type.Object(fullFields, { $id: "GeofenceUpdateRequest" });

export const PatchedGeofenceRequest = patched("PatchedGeofenceRequest", fullFields);
export type PatchedGeofenceRequest = Static<typeof PatchedGeofenceRequest>;

export const GeofenceLinkRequest = Type.Object(
  { device_uids: Type.Array(Type.String({ description: "IMEI" }), { minItems: 1, maxItems: 500 }) },
  { $id: "GeofenceLinkRequest" },
);

export type GivenFields = Partial<FenceFields>;

/** The fields a body speaks of; after POST and PUT, whose schemas fill in defaults, all of them. */
export function readFields(
  body: PatchedGeofenceRequest,
  organizationTimezone: string,
  errors: FieldErrors,
): GivenFields {
  const given: GivenFields = pick(body, verbatimFields);
  if (body.center) Object.assign(given, { lat: body.center.lat, lng: body.center.lng });
  if (body.radius !== undefined) given.radius_m = body.radius;
  if (body.schedule !== undefined) {
    given.schedule = body.schedule && readSchedule(body.schedule, organizationTimezone, errors);
  }
  return given;
}

/** On what a write leaves, not on what it says. */
export function checkDwell({ trigger_on_dwell, dwell_threshold_seconds }: FenceFields, errors: FieldErrors): void {
  if (trigger_on_dwell && dwell_threshold_seconds === null) {
    errors.non_field_errors = ["dwell_threshold_seconds is required when trigger_on_dwell is true."];
  }
}

/** What a new fence applies to. */
export function checkScope(body: GeofenceRequest, errors: FieldErrors): void {
  if ("group" in body && body.group !== null) errors.scope = [groupText];
  if (body.scope === "user" && !body.user) errors.user = ["This field is required when scope is user."];
  if (body.scope !== "user" && body.user) errors.user = ["This field is only allowed when scope is user."];
}

export function throwErrors(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw validationError(errors);
}
