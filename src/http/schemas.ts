import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from "@sinclair/typebox";

/**
 * Schema helpers that are exact in three places at once: the static type, the validator and serializer, and OpenAPI 3.0,
 * which has no null type and wants enumerations as `enum`.
 */

/** Carries the schema that a `$ref` means, so that the route table alone tells which components exist. */
export const refTarget: unique symbol = Symbol("refTarget");

/** A reference to a named schema that keeps its static type. */
export function refTo<T extends TSchema>(schema: T): TUnsafe<Static<T>> {
  if (!schema.$id) throw new Error("only a schema with an $id can be referred to");
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#`, [refTarget]: schema });
}

/**
 * The schema or null. A referred schema is written out: in OpenAPI 3.0 a reference has no room for `nullable`, and wrapped in
 * `allOf` null would still fail the part that says object.
 */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { [refTarget]: target } = schema as TSchema & { [refTarget]?: TSchema };
  const { $id: _, ...plain } = target ?? schema;
  const values = Array.isArray(plain.enum) ? { enum: [...plain.enum, null] } : {};
  return Type.Unsafe({ ...plain, ...values, nullable: true });
}

/** A named enumeration of strings; the name ends in Enum. */
export function StringEnum<const T extends string>(name: `${string}Enum`, values: readonly T[]): TUnsafe<T> {
  return Type.Unsafe<T>({ $id: name, type: "string", enum: [...values] });
}

/** The words for the numbers of an enumeration, in the same order. */
export const enumLabels: unique symbol = Symbol("enumLabels");

/** A named enumeration of numbers, given by what each of them means. */
export function IntegerEnum<const T extends number>(
  name: `${string}Enum`,
  meanings: Readonly<Record<string, T>>,
): TUnsafe<T> {
  const entries = Object.entries(meanings).sort(([, a], [, b]) => a - b);
  return Type.Unsafe<T>({
    $id: name,
    type: "integer",
    enum: entries.map(([, value]) => value),
    description: entries.map(([label, value]) => `${value} ${label}`).join(", "),
    [enumLabels]: entries.map(([label]) => label),
  });
}

/** A point in time in an answer, as stores return it: ISO 8601 UTC with milliseconds. */
export const Timestamp = Type.String({ format: "date-time", examples: ["2026-03-01T08:15:30.123Z"] });
export const Uuid = Type.String({ format: "uuid" });

/** Carries the schema that the description shows in place of the one that checks. */
export const describedSchema: unique symbol = Symbol("describedSchema");

/**
 * Accepts what `schema` does, and is described as `shown`: a request field has one type for generators, also where other
 * spellings are accepted.
 */
export const describedAs = <T extends TSchema>(schema: T, shown: TSchema): T => ({
  ...schema,
  [describedSchema]: shown,
});

export const describedSchemaOf = (schema: TSchema & { [describedSchema]?: TSchema }): TSchema =>
  schema[describedSchema] ?? schema;

/** For a default that the schema must not fill in by itself. */
export const describedDefault = <T extends TSchema>(schema: T, value: unknown): T =>
  describedAs(schema, { ...describedSchemaOf(schema), default: value });

/** Any JSON object. */
export const FreeObject = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });

/** The body of a PATCH, from the fields of the full request: each may be left out, and then it stays as it is. */
export function patched<T extends TProperties>(
  name: `Patched${string}Request`,
  fields: T,
): TObject<{ [Field in keyof T]: TOptional<T[Field]> }> {
  const optional = Object.entries(fields).map(([field, { default: _, ...schema }]) => [
    field,
    Type.Optional(withoutDescribedDefault(schema as TSchema)),
  ]);
  const properties: { [Field in keyof T]: TOptional<T[Field]> } = Object.fromEntries(optional);
  return Type.Object(properties, { $id: name });
}

function withoutDescribedDefault(schema: TSchema & { [describedSchema]?: TSchema }): TSchema {
  if (!schema[describedSchema]) return schema;
  const { default: _, ...shown } = schema[describedSchema];
  return describedAs(schema, shown as TSchema);
}

export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      count: Type.Integer({ description: "Number of rows on all pages." }),
      next: Nullable(Type.String({ format: "uri" })),
      previous: Nullable(Type.String({ format: "uri" })),
      results: Type.Array(refTo(item)),
    },
    { $id: `Paginated${item.$id}List` },
  );

export const cursorPageOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      next: Nullable(Type.String({ format: "uri" })),
      previous: Nullable(Type.String({ format: "uri" })),
      results: Type.Array(refTo(item)),
    },
    { $id: `Paginated${item.$id}List` },
  );

/** Every named schema that the given ones refer to, directly or through others. */
export function collectNamed(roots: readonly TSchema[]): Map<string, TSchema> {
  const found = new Map<string, TSchema>();
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    const schema = value as TSchema & { [refTarget]?: TSchema; [describedSchema]?: TSchema };
    if (schema[refTarget]) visit(schema[refTarget]);
    if (schema[describedSchema]) visit(schema[describedSchema]);
    if (typeof schema.$id === "string") {
      const known = found.get(schema.$id);
      if (known && known !== schema) throw new Error(`two schemas are named ${schema.$id}`);
      found.set(schema.$id, schema);
    }
    for (const part of Object.values(value)) visit(part);
  };
  for (const root of roots) visit(root);
  return found;
}
