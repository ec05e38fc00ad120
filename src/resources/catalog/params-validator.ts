import { SchemaChecker } from "../../http/schema-check.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { isZoneName } from "../../lib/zone-offset.ts";
import type { ParamsSchema } from "./capability.ts";

/** Undefined: the parameters are good. Keys are `params.<name>`, values as in section 1.3. */
export type ParamsValidator = (params: unknown) => FieldErrors | undefined;

/**
 * Compiles once, validates often. Throws for a schema that is not one, in strict mode. A checker may be shared by schemas
 * that live as long as it does: it keeps what it has compiled.
 */
export function makeParamsValidator(
  schema: ParamsSchema,
  commandType?: string,
  checker: SchemaChecker = makeParamsChecker(),
): ParamsValidator {
  const check = checker.compile(schema, "params");
  return (params) => check(params) ?? crossFieldErrors(commandType, params);
}

/** A branch such as {"required": ["timezone"]} names a property that is described one level up. */
export const makeParamsChecker = (): SchemaChecker =>
  new SchemaChecker({ strict: true, strictRequired: false }).addFormat("iana-time-zone", isZoneName);

/** Rules of section 8.2 and 26.1 that a JSON schema cannot say. They hold for good values only. */
function crossFieldErrors(commandType: string | undefined, params: unknown): FieldErrors | undefined {
  if (commandType !== "calibrate_bp") return undefined;
  const { sbp, dbp, age, gender } = params as Record<string, unknown>;
  const errors: FieldErrors = {};
  if (typeof sbp === "number" && typeof dbp === "number" && dbp >= sbp) {
    errors["params.dbp"] = ["dbp must be less than sbp."];
  }
  if ((age === undefined) !== (gender === undefined)) {
    errors[age === undefined ? "params.age" : "params.gender"] = ["age and gender must be given together."];
  }
  return Object.keys(errors).length === 0 ? undefined : errors;
}
