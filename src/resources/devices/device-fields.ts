import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";
import { describedAs, describedDefault, describedSchemaOf, FreeObject, Nullable, patched } from "../../http/schemas.ts";
import { type FieldErrors, validationError } from "../../lib/errors.ts";
import { pick } from "../../lib/pick.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { parseTimezone } from "../organizations/organization-settings.ts";
import type { DeviceFields } from "./device-record.ts";

const maxTags = 20;
const maxTagLength = 50;
const metadataBytes = 4096;

const Tag = Type.String({ minLength: 1, maxLength: maxTagLength, pattern: "^[^,]*$" });

const tagList = {
  type: "array",
  items: Tag,
  maxItems: maxTags,
  description: `Up to ${maxTags} tags of 1 to ${maxTagLength} characters without comma.`,
};
const Tags = describedAs(
  Type.Unsafe<string[] | string>({
    anyOf: [tagList, { type: "string" }],
    [messageKeyword]: `Expected up to ${maxTags} tags of 1 to ${maxTagLength} characters without comma.`,
  }),
  Type.Unsafe(tagList),
);

const slugText = "Slug of the catalog; sets the protocol.";
const modelSlug = Type.String({ maxLength: 100, description: slugText });

const optionalFields = {
  name: Type.Optional(Type.String({ maxLength: 100 })),
  phone_number: Type.Optional(Nullable(Type.String({ maxLength: 32 }))),
  iccid: Type.Optional(Nullable(Type.String({ maxLength: 32 }))),
  timezone: Type.Optional(
    Type.String({ maxLength: 100, description: "IANA name; the default is that of the organization." }),
  ),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: "Up to 4 KB of JSON." })),
  terminal_id: Type.Optional(
    Nullable(
      Type.String({
        pattern: "^[A-Za-z0-9]{1,20}$",
        description: "Unique among live devices of one protocol. The default follows from IMEI and protocol.",
        [messageKeyword]: "Expected 1 to 20 letters and digits.",
      }),
    ),
  ),
};

/** What a new device, and one that is updated in full, has where nothing is given; the time zone is that of the organization. */
const fieldDefaults = { name: "", phone_number: null, iccid: null, tags: [], metadata: {} };

/** POST also updates the device that the organization has: there a field that is left out stays, so no default is filled in. */
const describeDefaults = <T extends TProperties>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [
      name,
      name in fieldDefaults ? describedDefault(schema, fieldDefaults[name as keyof typeof fieldDefaults]) : schema,
    ]),
  ) as T;

const describeNewDefaults = <T extends TProperties>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      if (!(name in fieldDefaults)) return [name, schema];
      const shown = describedSchemaOf(schema);
      const words = `Default for a new device: ${JSON.stringify(fieldDefaults[name as keyof typeof fieldDefaults])}.`;
      return [name, describedAs(schema, { ...shown, description: [shown.description, words].join(" ").trim() })];
    }),
  ) as T;

export const DeviceRequest = Type.Object(
  {
    uid: Type.String({
      pattern: "^\\d{15}$",
      description: "IMEI.",
      [messageKeyword]: "Expected an IMEI of 15 digits.",
    }),
    device_model_slug: Type.Optional(
      Type.String({ maxLength: 100, description: `${slugText} Required for a new device.` }),
    ),
    ...describeNewDefaults(optionalFields),
  },
  { $id: "DeviceRequest" },
);

/** PUT: the IMEI is in the path, and the model is always required. */
export const DeviceUpdateRequest = Type.Object(
  { device_model_slug: modelSlug, ...describeDefaults(optionalFields) },
  { $id: "DeviceUpdateRequest" },
);

export const PatchedDeviceRequest = patched("PatchedDeviceRequest", DeviceUpdateRequest.properties);

export type GivenFields = Partial<DeviceFields>;

/** The fields a body speaks of. Checks what a schema cannot. */
export function readFields(body: Static<typeof PatchedDeviceRequest>, catalog: Catalog): GivenFields {
  const errors: FieldErrors = {};
  const given: GivenFields = pick(body, ["device_model_slug", "name", "phone_number", "iccid", "terminal_id"]);
  const slug = body.device_model_slug;
  if (slug !== undefined && !catalog.findModel(slug)) errors.device_model_slug = [`"${slug}" is not a valid choice.`];
  if (body.timezone !== undefined) {
    const timezone = parseTimezone(body.timezone);
    if (timezone === undefined) errors.timezone = [`"${body.timezone}" is not a valid time zone.`];
    else given.timezone = timezone;
  }
  if (body.tags !== undefined) {
    const tags = readTags(body.tags);
    if (tags === undefined) errors.tags = [Tags[messageKeyword] as string];
    else given.tags = tags;
  }
  if (body.metadata !== undefined) {
    if (Buffer.byteLength(JSON.stringify(body.metadata)) <= metadataBytes) given.metadata = body.metadata;
    else errors.metadata = [`Ensure this field has no more than ${metadataBytes} bytes of JSON.`];
  }
  if (Object.keys(errors).length > 0) throw validationError(errors);
  return given;
}

/** Blanks around a tag would keep the filter, which cuts them off, from ever finding it. */
function readTags(value: string[] | string): string[] | undefined {
  const tags =
    typeof value === "string"
      ? value.split(",").flatMap((part) => part.trim() || [])
      : value.map((part) => part.trim());
  const isGood = tags.every((tag) => tag !== "" && [...tag].length <= maxTagLength);
  return isGood && tags.length <= maxTags ? [...new Set(tags)] : undefined;
}

/** A full update: what is left out returns to its default. The terminal id has one that depends on the protocol. */
export const withDefaults = (given: GivenFields, organizationTimezone: string): GivenFields => ({
  ...fieldDefaults,
  timezone: organizationTimezone,
  ...given,
});
