import type { ErrorObject } from "ajv";
import type { FieldErrors } from "../lib/errors.ts";

/** A keyword of our schemas: the text for the caller where the general one would not help. Left out of the description. */
export const messageKeyword = "x-message";

export const maxFieldErrors = 50;

/**
 * Turns the findings of the schema validator into sentences by field, a bounded number of them. `root` is the name of the value
 * that was checked, empty for a whole body.
 */
export function fieldErrors(errors: readonly ErrorObject[], root = ""): FieldErrors {
  const own = errors.slice(0, 10 * maxFieldErrors).filter((error) => !isDetailOfAnother(error));
  // A value of the wrong type also breaks rules about its content; only the type is worth saying.
  const mistyped = new Set(own.filter(({ keyword }) => keyword === "type").map(({ instancePath }) => instancePath));
  const result = new Map<string, Set<string>>();
  for (const error of own) {
    if (error.keyword !== "type" && mistyped.has(error.instancePath)) continue;
    for (const [field, sentence] of sentencesOf(error, root)) {
      const sentences = result.get(field) ?? new Set();
      if (!result.has(field) && result.size >= maxFieldErrors) continue;
      result.set(field, sentences.add(sentence));
    }
  }
  // What was refused must never look accepted, whatever the schema is made of.
  if (result.size === 0) return { [nameOf(root)]: ["This value is not valid."] };
  return Object.fromEntries(Array.from(result, ([field, sentences]) => [field, [...sentences]]));
}

export const nameOf = (path: string): string => path || "non_field_errors";

/**
 * Wrapper keywords (allOf, if) only repeat what their parts say. The branches of a choice (anyOf, oneOf) are reported by the choice
 * itself, which can carry a text of its own.
 */
const isDetailOfAnother = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword === "if" || keyword === "allOf" || /\/(?:anyOf|oneOf)\/./.test(schemaPath);

function sentencesOf(error: ErrorObject, root: string): [field: string, sentence: string][] {
  const parts = error.instancePath.split("/").slice(1).map(unescapePointer);
  const path = [...(root === "" ? [] : [root]), ...parts];
  if (error.keyword === "required") {
    return [[[...path, error.params.missingProperty as string].join("."), "This field is required."]];
  }
  const names = error.keyword === "oneOf" && !ownText(error) ? alternatives(error.schema) : undefined;
  if (names !== undefined) {
    return names.map((name) => [[...path, name].join("."), `Exactly one of ${names.join(", ")} is required.`]);
  }
  return [[nameOf(path.join(".")), sentenceOf(error)]];
}

const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

/** The names when each branch of a oneOf does nothing but require one field. */
function alternatives(branches: unknown): string[] | undefined {
  const names = (branches as { required?: string[] }[]).map((branch) =>
    Object.keys(branch).length === 1 && branch.required?.length === 1 ? branch.required[0] : undefined,
  );
  return names.every((name) => name !== undefined) ? names : undefined;
}

const ownText = ({ keyword, parentSchema }: ErrorObject): string | undefined => {
  const text: unknown = parentSchema?.[messageKeyword];
  return typeof text === "string" && keyword !== "type" ? text : undefined;
};

const typeSentences: Readonly<Record<string, string>> = {
  string: "Not a valid string.",
  integer: "A valid integer is required.",
  number: "A valid number is required.",
  boolean: "Must be a valid boolean.",
  array: "Expected a list of items.",
  object: "Expected an object.",
};

const formatSentences: Readonly<Record<string, string>> = {
  uuid: "Must be a valid UUID.",
  email: "Enter a valid e-mail address.",
  "date-time": "Enter a valid ISO 8601 date and time.",
  uri: "Enter a valid URL.",
  "iana-time-zone": "A valid IANA time zone name is required.",
};

function sentenceOf(error: ErrorObject): string {
  const { keyword, params, data } = error;
  // A field that is never accepted (`not`) is refused for being there, not for its value.
  if (data === null && keyword !== "not") return "This field may not be null.";
  const own = ownText(error);
  if (own !== undefined) return own;
  switch (keyword) {
    case "type":
      return typeSentences[String(params.type)] ?? "Not a valid value.";
    case "enum":
    case "const":
      return `"${shortText(data)}" is not a valid choice.`;
    case "minimum":
      return `Ensure this value is greater than or equal to ${params.limit}.`;
    case "maximum":
      return `Ensure this value is less than or equal to ${params.limit}.`;
    case "exclusiveMinimum":
      return `Ensure this value is greater than ${params.limit}.`;
    case "exclusiveMaximum":
      return `Ensure this value is less than ${params.limit}.`;
    case "multipleOf":
      return `Ensure this value is a multiple of ${params.multipleOf}.`;
    case "minLength":
      return data === ""
        ? "This field may not be blank."
        : `Ensure this field has at least ${params.limit} characters.`;
    case "maxLength":
      return `Ensure this field has no more than ${params.limit} characters.`;
    case "minItems":
      return `Ensure this field has at least ${params.limit} elements.`;
    case "maxItems":
      return `Ensure this field has no more than ${params.limit} elements.`;
    case "pattern":
      return "This value does not match the required pattern.";
    case "format":
      return formatSentences[String(params.format)] ?? "Enter a valid value.";
    default:
      return "Enter a valid value.";
  }
}

const shortText = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`;
};
