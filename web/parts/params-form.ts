/**
 * The form of a command, made of the JSON schema of its parameters, and the parameters made of what was filled in. Only the part
 * of JSON schema that the catalog uses is known here: the server checks everything again.
 */
export interface ParamsSchema {
  type?: string;
  required?: readonly string[];
  properties?: Readonly<Record<string, PropertySchema>>;
  if?: { properties?: Readonly<Record<string, { const?: unknown }>> };
  then?: { required?: readonly string[] };
  oneOf?: readonly { required?: readonly string[] }[];
}

interface PropertySchema extends ParamsSchema {
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  format?: string;
  default?: unknown;
  items?: PropertySchema;
}

export type FormField = { name: string; isRequired: boolean } & (
  | { kind: "text"; maxLength: number | undefined; isLong: boolean; format: string | undefined }
  | { kind: "number"; min: number | undefined; max: number | undefined; isInteger: boolean }
  | { kind: "check" }
  | { kind: "choice"; options: readonly string[] }
  | { kind: "list"; maxItems: number | undefined; of: readonly FormField[]; isPlain: boolean }
);

/** What is filled in: texts as typed, so that nothing is lost while it is not valid yet. */
export type FormValue = string | boolean | readonly FormValues[];
export type FormValues = Readonly<Record<string, FormValue>>;

const longTextLength = 100;
/** The one field of a list of plain values. */
const plainName = "value";

function fieldOf(name: string, schema: PropertySchema, isRequired: boolean): FormField {
  const head = { name, isRequired };
  if (schema.enum) return { ...head, kind: "choice", options: schema.enum };
  switch (schema.type) {
    case "integer":
    case "number":
      return {
        ...head,
        kind: "number",
        min: schema.minimum,
        max: schema.maximum,
        isInteger: schema.type === "integer",
      };
    case "boolean":
      return { ...head, kind: "check" };
    case "array": {
      const items = schema.items ?? {};
      const isPlain = items.type !== "object";
      const of = isPlain ? [fieldOf(plainName, items, true)] : fieldsOf(items);
      return { ...head, kind: "list", maxItems: schema.maxItems, of, isPlain };
    }
    default: {
      const { maxLength, format } = schema;
      return { ...head, kind: "text", maxLength, isLong: (maxLength ?? 0) > longTextLength, format };
    }
  }
}

export function fieldsOf(schema: ParamsSchema): FormField[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fieldOf(name, property, schema.required?.includes(name) === true),
  );
}

function initialOf(schema: PropertySchema, isRequired: boolean): FormValue {
  if (schema.default !== undefined)
    return typeof schema.default === "boolean" ? schema.default : String(schema.default);
  if (schema.type === "boolean") return false;
  if (schema.type === "array") return isRequired ? [emptyItem(schema)] : [];
  return schema.enum && isRequired ? (schema.enum[0] as string) : "";
}

const emptyItem = (schema: PropertySchema): FormValues =>
  schema.items?.type === "object" ? initialValues(schema.items) : { [plainName]: "" };

export function initialValues(schema: ParamsSchema): FormValues {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      initialOf(property, schema.required?.includes(name) === true),
    ]),
  );
}

export const emptyRow = (of: readonly FormField[]): FormValues =>
  Object.fromEntries(of.map(({ name, kind }) => [name, kind === "check" ? false : kind === "list" ? [] : ""]));

function sentValue(field: FormField, value: FormValue | undefined): unknown {
  switch (field.kind) {
    case "check":
      return value === true;
    case "number":
      return typeof value === "string" && value.trim() !== "" ? Number(value) : undefined;
    case "list": {
      const rows = (Array.isArray(value) ? value : []) as readonly FormValues[];
      const filled = rows.map((row) => paramsOf(field.of, row)).filter((row) => Object.keys(row).length > 0);
      return field.isPlain ? filled.map((row) => row[plainName]) : filled;
    }
    default:
      return typeof value === "string" && value !== "" ? value : undefined;
  }
}

/** What is sent: fields that were left empty are left out. */
export function paramsOf(fields: readonly FormField[], values: FormValues): Record<string, unknown> {
  return Object.fromEntries(
    fields
      .map((field) => [field.name, sentValue(field, values[field.name])])
      .filter(([, value]) => value !== undefined),
  );
}

/** The names of fields that must be filled in, given what is filled in already: some only count with a certain choice. */
export function requiredNow(schema: ParamsSchema, params: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const required = new Set(schema.required ?? []);
  const conditions = Object.entries(schema.if?.properties ?? {});
  const isMet = conditions.length > 0 && conditions.every(([name, { const: wanted }]) => params[name] === wanted);
  if (isMet) for (const name of schema.then?.required ?? []) required.add(name);
  return required;
}

export type Problem = "required" | "range" | "number" | "one";

/** What is wrong with the form before it is sent, by field. */
export function problemsOf(schema: ParamsSchema, params: Readonly<Record<string, unknown>>): Record<string, Problem> {
  const problems: Record<string, Problem> = {};
  const required = requiredNow(schema, params);
  for (const field of fieldsOf(schema)) {
    const value = params[field.name];
    if (value === undefined) {
      if (required.has(field.name)) problems[field.name] = "required";
    } else if (field.kind === "number" && typeof value === "number") {
      if (!Number.isFinite(value) || (field.isInteger && !Number.isInteger(value))) problems[field.name] = "number";
      else if (value < (field.min ?? value) || value > (field.max ?? value)) problems[field.name] = "range";
    }
  }
  const alternatives = (schema.oneOf ?? []).map(({ required: names = [] }) => names);
  if (alternatives.length > 0) {
    const given = alternatives.filter((names) => names.every((name) => params[name] !== undefined));
    const first = alternatives[0]?.[0];
    if (given.length !== 1 && first !== undefined) problems[first] ??= "one";
  }
  return problems;
}
