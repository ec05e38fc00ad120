type Json = Record<string, unknown>;

/**
 * The same description in OpenAPI 3.1, whose schemas are JSON Schema 2020-12: null is a type, exclusive bounds are numbers,
 * examples are lists, and webhooks have a place of their own.
 */
export function toOpenApi31(description: Json): Json {
  const { openapi: _, "x-webhooks": webhooks, paths, components, ...rest } = description;
  return {
    openapi: "3.1.0",
    ...(convert(rest) as Json),
    paths: convert(paths),
    webhooks: convert(webhooks),
    components: convert(components),
  };
}

/** Values of these keywords are data, not schemas. */
const dataKeywords = ["default", "enum", "required", "x-extensible-enum"];

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert);
  if (typeof node !== "object" || node === null) return node;
  const result: Json = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "nullable" && typeof value === "boolean") continue;
    // Beside a schema it is the example of a body, and those have names.
    if (key === "example") result.examples = "schema" in node ? { default: { value } } : [value];
    else if (key === "properties") result.properties = eachOf(value as Json);
    else result[key] = dataKeywords.includes(key) ? value : convert(value);
  }
  if (result.exclusiveMinimum === true) moveBound(result, "minimum", "exclusiveMinimum");
  if (result.exclusiveMaximum === true) moveBound(result, "maximum", "exclusiveMaximum");
  return (node as Json).nullable === true ? orNull(result) : unwrapped(result);
}

/** Here a reference has room for a default and a description beside it. */
function unwrapped({ allOf, ...rest }: Json): Json {
  if (!Array.isArray(allOf)) return rest;
  const [part, ...others] = allOf as Json[];
  return part && others.length === 0 ? { ...part, ...rest } : { allOf, ...rest };
}

/** The names of properties are no keywords, whatever they are. */
const eachOf = (properties: Json): Json =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, convert(schema)]));

function moveBound(schema: Json, bound: "minimum" | "maximum", exclusive: string): void {
  schema[exclusive] = schema[bound];
  delete schema[bound];
}

function orNull({ description, default: value, ...schema }: Json): Json {
  const about = {
    ...(description === undefined ? {} : { description }),
    ...(value === undefined ? {} : { default: value }),
  };
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"], ...about };
  return { anyOf: [schema, { type: "null" }], ...about };
}
