type Json = Record<string, unknown>;
type Schemas = Record<string, Json>;

const uuid = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
const time = "2026-03-01T08:15:24.000Z";

/** What people recognize; everything else follows from the schema. */
const byName: Record<string, unknown> = {
  uid: "490154203237518",
  imei: "490154203237518",
  device_uid: "490154203237518",
  user_id: uuid,
  email: "anna@example.org",
  first_name: "Anna",
  last_name: "Rossi",
  name: "Home",
  phone: "+390612345678",
  phone_number: "+390612345678",
  iccid: "89390100001234567890",
  tag: "ward-3",
  device_model_name: "H10",
  firmware_version: null,
  terminal_id: null,
  next: null,
  previous: null,
  deleted_at: null,
  revoked_at: null,
  ended_at: null,
  lat: 41.902782,
  lng: 12.496366,
  radius: 150,
  accuracy_m: 12,
  text: "Call me",
  sender_name: "Care desk",
  timezone: "Europe/Rome",
  default_locale: "it",
  language: "it",
  device_model_slug: "model-slug",
  model_slug: "model-slug",
  protocol_slug: "protocol-slug",
  command_type: "locate_now",
  metric_key: "hr",
  low: 45,
  high: 120,
  count: 1,
  limit: 100,
  battery: 81,
  message: "SOS pressed",
};

/** An example of every request body and of every answer of success in JSON, made from its schema. */
export function addExamples(paths: Record<string, Json>, schemas: Schemas): void {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item) as Json[]) {
      const { requestBody, responses } = operation as { requestBody?: Json; responses: Record<string, Json> };
      const answers = Object.entries(responses).flatMap(([status, answer]) => (status.startsWith("2") ? [answer] : []));
      for (const body of [requestBody, ...answers])
        addExample(body?.content as Record<string, Json> | undefined, schemas);
    }
  }
}

function addExample(content: Record<string, Json> | undefined, schemas: Schemas): void {
  for (const [type, media] of Object.entries(content ?? {})) {
    if (!type.endsWith("json") || media.example !== undefined || !media.schema) continue;
    media.example = exampleOf(media.schema as Json, schemas, "");
  }
}

/** A value that fits the schema. Fields that may be null are given, so that a reader sees what they hold. */
export function exampleOf(schema: Json, schemas: Schemas, name: string): unknown {
  const { $ref, allOf, oneOf, anyOf } = schema as { $ref?: string; allOf?: Json[]; oneOf?: Json[]; anyOf?: Json[] };
  if ($ref) return exampleOf(schemas[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {}, schemas, name);
  if (schema.example !== undefined) return schema.example;
  const known = byName[name];
  if (known !== undefined && fits(known, schema)) return known;
  if (schema.default !== undefined) return schema.default;
  const [part] = allOf ?? oneOf ?? anyOf ?? [];
  if (part) return exampleOf(part, schemas, name);
  if (Array.isArray(schema.enum)) return schema.enum.find((value) => value !== null) ?? null;
  switch (schema.type) {
    case "object":
      return objectExample(schema, schemas);
    case "array":
      return listExample(schema, schemas, name);
    case "string":
      return textExample(schema);
    case "integer":
    case "number":
      return numberExample(schema);
    case "boolean":
      return true;
    default:
      return null;
  }
}

const fits = (value: unknown, { type, enum: values, maximum, nullable }: Json): boolean =>
  value === null
    ? nullable === true
    : (type === "integer" || type === "number" ? typeof value === "number" : type === typeof value) &&
      (!Array.isArray(values) || values.includes(value)) &&
      (typeof maximum !== "number" || Number(value) <= maximum);

function objectExample({ properties, additionalProperties }: Json, schemas: Schemas): Json {
  const fields = Object.entries((properties ?? {}) as Schemas);
  if (fields.length === 0 && typeof additionalProperties === "object" && additionalProperties !== null) {
    return { key: exampleOf(additionalProperties as Json, schemas, "") };
  }
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas, name)]));
}

function listExample({ items, minItems }: Json, schemas: Schemas, name: string): unknown[] {
  const singular = name.replace(/s$/, "");
  const count = Math.max(1, Number(minItems ?? 0));
  return Array.from({ length: count }, () => (items ? exampleOf(items as Json, schemas, singular) : null));
}

function textExample({ format, pattern, minLength, maxLength }: Json): string {
  if (format === "uuid") return uuid;
  if (format === "date-time") return time;
  if (format === "date") return time.slice(0, 10);
  if (format === "time" || String(pattern).includes(":")) return "08:15";
  if (format === "email") return "anna@example.org";
  if (format === "uri") return "https://vigil.example.org/";
  const word = "text".padEnd(Number(minLength ?? 0), "x");
  return typeof maxLength === "number" ? word.slice(0, maxLength) : word;
}

function numberExample({ minimum, maximum, exclusiveMinimum }: Json): number {
  const low = Number(minimum ?? 0) + (exclusiveMinimum === true ? 1 : 0);
  const wanted = Math.max(low, 1);
  return typeof maximum === "number" ? Math.min(wanted, maximum) : wanted;
}
