import type { Static, TSchema } from "@sinclair/typebox";
import { isInternetEmail } from "../lib/email.ts";
import { type FieldErrors, validationError } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { maxFieldErrors, nameOf } from "./field-errors.ts";
import { parseDateTime } from "./query-params.ts";
import { SchemaChecker } from "./schema-check.ts";
import { collectNamed, refTarget } from "./schemas.ts";

/** Checks bodies without coercion: null stays null, "1" is no number. Defaults of the schema are filled in. */
export const makeValidator = (): SchemaChecker =>
  new SchemaChecker({ strict: false, useDefaults: true, coerceTypes: false })
    .addFormat("uuid", isUuid)
    .addFormat("date-time", (text) => parseDateTime(text) !== undefined)
    .addFormat("email", isInternetEmail)
    .addFormat("uri", (text) => URL.canParse(text))
    .addFormat("binary", () => true);

export type BodyCheck<T> = (body: unknown) => T;

/** Compiles a schema, the named ones it refers to included, into a function that returns the body or throws its errors. */
export function compileBody<T extends TSchema>(checker: SchemaChecker, schema: T): BodyCheck<Static<T>> {
  const named = collectNamed([schema]);
  for (const [name, part] of named) if (part !== schema) checker.addNamed(name, part);
  const check = checker.compile(schema, "", [...named.values()]);
  const { [refTarget]: target = schema } = schema as TSchema & { [refTarget]?: TSchema };
  const known = new Set(Object.keys((target.properties as object | undefined) ?? {}));
  return (body) => {
    const errors = textErrors(body, known) ?? check(body);
    if (errors) throw validationError(errors);
    return body as Static<T>;
  };
}

/** Compiles with the first body; see lazySerializer. */
export function lazyBody<T extends TSchema>(checker: SchemaChecker, schema: T): BodyCheck<Static<T>> {
  let check: BodyCheck<Static<T>> | undefined;
  return (body) => {
    check ??= compileBody(checker, schema);
    return check(body);
  };
}

/** Deeper than any record, and far from the end of the stack that validator, serializer and database need for each level. */
const maxDepth = 500;

/**
 * PostgreSQL cannot store U+0000 nor half a surrogate pair, and a value that is nested without end exhausts the stack; they are
 * refused at the door instead of deep in a store. Fields that the schema does not know are ignored, whatever is in them.
 */
function textErrors(body: unknown, known: ReadonlySet<string>): FieldErrors | undefined {
  const errors = new Map<string, string>();
  // Written out only for an error: most values have none, and a body may have thousands of them.
  const path: string[] = [];
  const report = (name: string, sentence: string): void => {
    if (errors.size < maxFieldErrors) errors.set(nameOf(name), sentence);
  };
  const check = (text: string): void => {
    if (text.includes("\0")) report(path.join("."), "Null characters are not allowed.");
    else if (/\p{Surrogate}/u.test(text)) report(path.join("."), "Not valid Unicode text.");
  };
  const visit = (value: unknown, field: string, depth: number): void => {
    if (typeof value === "string") check(value);
    if (typeof value !== "object" || value === null) return;
    if (depth > maxDepth) {
      report(field, "The value is nested too deeply.");
      return;
    }
    const isList = Array.isArray(value);
    for (const key in value) {
      if (!isList) check(key);
      path.push(key);
      visit((value as Record<string, unknown>)[key], field, depth + 1);
      path.pop();
    }
  };
  if (typeof body !== "object" || body === null || Array.isArray(body)) visit(body, "", 1);
  else {
    for (const [key, item] of Object.entries(body)) {
      if (!known.has(key)) continue;
      path.push(key);
      visit(item, key, 1);
      path.pop();
    }
  }
  return errors.size === 0
    ? undefined
    : Object.fromEntries(Array.from(errors, ([name, sentence]) => [name, [sentence]]));
}
