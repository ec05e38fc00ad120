import { validationError } from "../../lib/errors.ts";
import type { Capability, CommandCapability, ParamsSchema } from "../catalog/capability.ts";
import { makeParamsChecker, makeParamsValidator, type ParamsValidator } from "../catalog/params-validator.ts";

/** Refuses what the device cannot do and parameters that its schema does not take (section 8.1). Returns those it knows. */
export type CheckCommand = (
  capabilities: readonly Capability[],
  type: string,
  params: Record<string, unknown>,
) => Record<string, unknown>;

/** Schemas of the catalog are compiled once; one that an operator wrote for a device is compiled for each call. */
export function makeCommandCheck(): CheckCommand {
  const checker = makeParamsChecker();
  const compiled = new Map<ParamsSchema, ParamsValidator>();
  const validatorOf = ({ code, params_schema, overridden }: CommandCapability): ParamsValidator => {
    if (overridden) return makeParamsValidator(params_schema, code);
    let validator = compiled.get(params_schema);
    if (!validator) {
      validator = makeParamsValidator(params_schema, code, checker);
      compiled.set(params_schema, validator);
    }
    return validator;
  };
  return (capabilities, type, params) => {
    const capability = capabilities.find(
      (one): one is CommandCapability => one.kind === "command" && one.code === type && one.supported,
    );
    if (!capability) {
      throw validationError({ command_type: [`${JSON.stringify(type)} is not supported by this device.`] });
    }
    const errors = validatorOf(capability)(params);
    if (errors) throw validationError(errors);
    const { properties } = capability.params_schema;
    if (typeof properties !== "object" || properties === null) return params;
    return Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(properties, name)));
  };
}
