import { messageKeyword } from "./field-errors.ts";
import { describedSchema, enumLabels } from "./schemas.ts";

type Json = Record<string, unknown>;

/** A named schema, with names for the constants of an enumeration. */
export function componentOf(name: string, schema: Json & { [enumLabels]?: readonly string[] }): Json {
  const component = toOpenApi(schema) as Json;
  if (!Array.isArray(component.enum)) return component;
  const labels = schema[enumLabels] ?? component.enum.map(String);
  return {
    ...component,
    "x-enum-varnames": labels.map((label) => constantName(`${name.replace(/Enum$/, "")}_${label}`)),
  };
}

/** With the name of the enumeration in front, as in Protocol Buffers: Go has one space of names for the constants of all. */
const constantName = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase();

/** JSON Schema as the validator uses it, in the words of OpenAPI 3.0. Symbols of the schema library fall away by themselves. */
export function toOpenApi(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toOpenApi);
  if (typeof schema !== "object" || schema === null) return schema;
  const { [describedSchema]: shown } = schema as { [describedSchema]?: unknown };
  if (shown) return toOpenApi(shown);
  const result: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id" || key === messageKeyword) continue;
    if (key === "$ref" && typeof value === "string") result.$ref = `#/components/schemas/${value.replace(/#$/, "")}`;
    else if (key === "examples" && Array.isArray(value)) result.example = value[0];
    else if (key === "exclusiveMinimum" && typeof value === "number")
      Object.assign(result, { minimum: value, exclusiveMinimum: true });
    else if (key === "exclusiveMaximum" && typeof value === "number")
      Object.assign(result, { maximum: value, exclusiveMaximum: true });
    // Without it Go makes it 32 bits, which moves a coordinate by a metre, and Java a decimal of any length.
    else if (key === "type" && value === "number") Object.assign(result, { type: "number", format: "double" });
    else if (key === "properties") result.properties = propertiesOf(value as Json);
    else if (key === "default") Object.assign(result, { default: value, description: withDefault(schema as Json) });
    else if (key !== "description" || !("default" in schema)) result[key] = toOpenApi(value);
  }
  // A part that stands alone needs no wrapping; it is wrapped for what a reference has no room for.
  const [part, ...others] = Array.isArray(result.allOf) ? result.allOf : [];
  return part && others.length === 0 && Object.keys(result).length === 1 ? part : result;
}

/** A property that is always refused (`Type.Never`) is checked at the door, but it is no part of the description. */
const propertiesOf = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      "not" in (schema as object) ? [] : [[name, toOpenApi(schema)]],
    ),
  );

/** The default in words too: not every generator shows the one of the schema. */
function withDefault({ description, default: value }: Json): string {
  const words = `Default: ${wordsFor(value)}.`;
  return typeof description === "string" ? `${description} ${words}` : words;
}

function wordsFor(value: unknown): string {
  if (value === "") return "empty";
  if (Array.isArray(value) && value.length === 0) return "none";
  return typeof value === "string" ? `\`${value}\`` : JSON.stringify(value);
}
