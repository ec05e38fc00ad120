import type { Static, TSchema } from "@sinclair/typebox";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { type FieldErrors, validationError } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { parseDateTime } from "./query-params.ts";
import { collectNamed, refTarget } from "./schemas.ts";

const maxReportedErrors = 50;

/** A keyword of our schemas: the text for the caller where the general one would not help. Left out of the description. */
export const messageKeyword = "x-message";

const email =
  /^[^\s@<>()[\]\\,;:"\u0000-\u001f]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i;

/** Checks bodies without coercion: null stays null, "1" is no number. Defaults of the schema are filled in. */
export function makeValidator(): Ajv {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, useDefaults: true, coerceTypes: false });
  ajv.addFormat("uuid", isUuid);
  ajv.addFormat("date-time", (text) => parseDateTime(text) !== undefined);
  ajv.addFormat("email", (text) => text.length <= 254 && email.test(text));
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("binary", true);
  return ajv;
}

export type BodyCheck<T> = (body: unknown) => T;

/** Compiles a schema, the named ones it refers to included, into a function that returns the body or throws its errors. */
export function compileBody<T extends TSchema>(ajv: Ajv, schema: T): BodyCheck<Static<T>> {
  for (const [name, named] of collectNamed([schema]))
    if (!ajv.getSchema(name) && named !== schema) ajv.addSchema(named);
  const validate: ValidateFunction = ajv.compile(schema);
  const { [refTarget]: target = schema } = schema as TSchema & { [refTarget]?: TSchema };
  const known = new Set(Object.keys((target.properties as object | undefined) ?? {}));
  return (body) => {
    const unstorable = textErrors(body, known);
    if (unstorable) throw validationError(unstorable);
    if (!validate(body)) throw validationError(fieldErrors(validate.errors ?? []));
    return body as Static<T>;
  };
}

/** Deeper than any record, and far from the end of the stack that validator, serializer and database need for each level. */
const deepest = 500;

/**
 * PostgreSQL cannot store U+0000 nor half a surrogate pair, and a value that is nested without end exhausts the stack; they are
 * refused at the door instead of deep in a store. Fields that the schema does not know are ignored, whatever is in them.
 */
function textErrors(body: unknown, known: ReadonlySet<string>): FieldErrors | undefined {
  const errors: FieldErrors = {};
  const check = (text: string, path: string): void => {
    if (text.includes("\0")) errors[path || "non_field_errors"] = ["Null characters are not allowed."];
    else if (/\p{Surrogate}/u.test(text)) errors[path || "non_field_errors"] = ["Not a valid Unicode text."];
  };
  const visit = (value: unknown, path: string, field: string, depth: number): void => {
    if (typeof value === "string") check(value, path);
    if (typeof value !== "object" || value === null) return;
    if (depth > deepest) {
      errors[field || "non_field_errors"] = ["Nested too deeply."];
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value)) check(key, path);
      visit(item, join(path, key), field, depth + 1);
    }
  };
  if (typeof body !== "object" || body === null || Array.isArray(body)) visit(body, "", "", 1);
  else for (const [key, item] of Object.entries(body)) if (known.has(key)) visit(item, key, key, 1);
  return Object.keys(errors).length > 0 ? errors : undefined;
}

const join = (path: string, part: string): string => (path === "" ? part : `${path}.${part}`);

/**
 * Turns the validator's findings into messages by field. Wrapper keywords (allOf, if) only repeat what their parts say; the
 * branches of a choice (anyOf, oneOf) are told by the choice itself, which can carry a text of its own.
 */
function fieldErrors(errors: readonly ErrorObject[]): FieldErrors {
  const result: FieldErrors = {};
  for (const error of errors.slice(0, maxReportedErrors)) {
    if (["if", "allOf"].includes(error.keyword) || /\/(?:anyOf|oneOf)\/./.test(error.schemaPath)) continue;
    const base = error.instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
    const field = error.keyword === "required" ? join(base, error.params.missingProperty as string) : base;
    const name = field || "non_field_errors";
    result[name] = [...new Set([...(result[name] ?? []), messageOf(error)])];
  }
  return result;
}

const typeMessages: Record<string, string> = {
  string: "Not a valid string.",
  integer: "A valid integer is required.",
  number: "A valid number is required.",
  boolean: "Must be a valid boolean.",
  array: "Expected a list of items.",
  object: "Expected an object.",
};

const formatMessages: Record<string, string> = {
  uuid: "Must be a valid UUID.",
  email: "Enter a valid e-mail address.",
  "date-time": "Enter a valid ISO 8601 date and time.",
  uri: "Enter a valid URL.",
};

function messageOf(error: ErrorObject): string {
  const { keyword, params, data, parentSchema } = error;
  if (keyword === "required") return "This field is required.";
  // A field that is never accepted (`not`) is refused for being there, not for its value.
  if (data === null && keyword !== "not") return "This field may not be null.";
  if (typeof parentSchema?.[messageKeyword] === "string" && keyword !== "type") return parentSchema[messageKeyword];
  switch (keyword) {
    case "type":
      return typeMessages[String(params.type)] ?? "Not a valid value.";
    case "enum":
    case "const":
      return `"${short(data)}" is not a valid choice.`;
    case "minimum":
      return `Ensure this value is greater than or equal to ${params.limit}.`;
    case "maximum":
      return `Ensure this value is less than or equal to ${params.limit}.`;
    case "exclusiveMinimum":
      return `Ensure this value is greater than ${params.limit}.`;
    case "exclusiveMaximum":
      return `Ensure this value is less than ${params.limit}.`;
    case "minLength":
      return params.limit === 1
        ? "This field may not be blank."
        : `Ensure this field has at least ${params.limit} characters.`;
    case "maxLength":
      return `Ensure this field has no more than ${params.limit} characters.`;
    case "minItems":
      return `Ensure this field has at least ${params.limit} elements.`;
    case "maxItems":
      return `Ensure this field has no more than ${params.limit} elements.`;
    case "format":
      return formatMessages[String(params.format)] ?? "Enter a valid value.";
    default:
      return "Enter a valid value.";
  }
}

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
};
