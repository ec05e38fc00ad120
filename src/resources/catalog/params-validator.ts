import { Ajv, type ErrorObject } from "ajv";
import type { FieldErrors } from "../../lib/errors.ts";
import type { ParamsSchema } from "./capability.ts";

/** Undefined: the parameters are good. Keys are `params.<name>`, values as in section 1.3. */
export type ParamsValidator = (params: unknown) => FieldErrors | undefined;

/**
 * Compiles once, validates often. Throws for a schema that is not one, in strict mode. A compiler may be shared by schemas
 * that live as long as it does: it keeps what it has compiled.
 */
export function makeParamsValidator(
  schema: ParamsSchema,
  commandType?: string,
  compiler: Ajv = makeParamsCompiler(),
): ParamsValidator {
  const validate = compiler.compile(schema);
  return (params) => {
    const errors = validate(params) ? crossFieldErrors(commandType, params) : fieldErrors(validate.errors ?? []);
    return Object.keys(errors).length === 0 ? undefined : errors;
  };
}

export function makeParamsCompiler(): Ajv {
  const compiler = new Ajv({
    strict: true,
    // A branch such as {"required": ["timezone"]} names a property that is described one level up.
    strictRequired: false,
    allErrors: true,
    verbose: true,
  });
  return compiler.addFormat("iana-time-zone", isTimeZoneName);
}

/** Rules of section 8.2 and 26.1 that a JSON schema cannot say. They hold for good values only. */
function crossFieldErrors(commandType: string | undefined, params: unknown): FieldErrors {
  if (commandType !== "calibrate_bp") return {};
  const { sbp, dbp, age, gender } = params as Record<string, unknown>;
  const errors: FieldErrors = {};
  if (typeof sbp === "number" && typeof dbp === "number" && dbp >= sbp) {
    errors["params.dbp"] = ["dbp must be less than sbp."];
  }
  if ((age === undefined) !== (gender === undefined)) {
    errors[age === undefined ? "params.age" : "params.gender"] = ["age and gender must be given together."];
  }
  return errors;
}

function fieldErrors(errors: readonly ErrorObject[]): FieldErrors {
  const result: FieldErrors = {};
  const own = errors.filter((error) => !isDetailOfAnother(error));
  // A value of the wrong type also breaks rules about its content; only the type is worth saying.
  const mistyped = new Set(own.filter(({ keyword }) => keyword === "type").map(({ instancePath }) => instancePath));
  for (const error of own.filter(({ keyword, instancePath }) => keyword === "type" || !mistyped.has(instancePath))) {
    for (const [key, sentence] of sentencesOf(error)) {
      result[key] = [...new Set([...(result[key] ?? []), sentence])];
    }
  }
  // What was refused must never look accepted, whatever an operator's schema is made of.
  return Object.keys(result).length === 0 ? { params: ["This value is not valid."] } : result;
}

/** Branches of a choice are told by the choice itself; `if` only announces the error of its `then`. */
const isDetailOfAnother = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword === "if" || /\/(?:oneOf|anyOf|not)\/./.test(schemaPath);

function sentencesOf(error: ErrorObject): [key: string, sentence: string][] {
  const key = ["params", ...error.instancePath.split("/").slice(1).map(unescapePointer)].join(".");
  if (error.keyword === "required") return [[`${key}.${error.params.missingProperty}`, "This field is required."]];
  const names = error.keyword === "oneOf" ? alternatives(error.schema) : undefined;
  if (names !== undefined) {
    return names.map((name) => [`${key}.${name}`, `Exactly one of ${names.join(", ")} is required.`]);
  }
  return [[key, sentenceOf(error)]];
}

function sentenceOf({ keyword, params, data, schema, message }: ErrorObject): string {
  const limit = params.limit;
  switch (keyword) {
    case "type":
      return data === null ? "This field may not be null." : typeSentence(schema);
    case "enum":
    case "const":
      return `${JSON.stringify(String(data))} is not a valid choice.`;
    case "maximum":
      return `Ensure this value is less than or equal to ${limit}.`;
    case "minimum":
      return `Ensure this value is greater than or equal to ${limit}.`;
    case "minLength":
      return data === "" ? "This field may not be blank." : `Ensure this field has at least ${limit} characters.`;
    case "maxLength":
      return `Ensure this field has no more than ${limit} characters.`;
    case "minItems":
      return `Ensure this field has at least ${limit} elements.`;
    case "maxItems":
      return `Ensure this field has no more than ${limit} elements.`;
    case "pattern":
      return "This value does not match the required pattern.";
    case "format":
      return params.format === "iana-time-zone" ? "A valid IANA time zone name is required." : "Enter a valid value.";
    default:
      return `This value ${message ?? "is not valid"}.`;
  }
}

function typeSentence(type: unknown): string {
  switch (type) {
    case "integer":
      return "A valid integer is required.";
    case "number":
      return "A valid number is required.";
    case "boolean":
      return "A valid boolean is required.";
    case "string":
      return "A valid string is required.";
    case "array":
      return "A list is required.";
    case "object":
      return "An object is required.";
    default:
      return `A value of type ${[type].flat().join(" or ")} is required.`;
  }
}

/** The names when each branch of a oneOf does nothing but require one field. */
function alternatives(branches: unknown): string[] | undefined {
  const names = (branches as { required?: string[] }[]).map((branch) =>
    Object.keys(branch).length === 1 && branch.required?.length === 1 ? branch.required[0] : undefined,
  );
  return names.every((name) => name !== undefined) ? names : undefined;
}

const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

function isTimeZoneName(name: string): boolean {
  // Newer Node versions also take offsets like "+02:00", which are no names.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
