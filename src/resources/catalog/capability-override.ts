import type { Capability, ParamsSchema } from "./capability.ts";

/** What an operator set for one device and one code. */
export interface CapabilityOverride {
  code: string;
  supported: boolean;
  /** Replaces the schema of a command; null keeps the catalog's. */
  params_schema: ParamsSchema | null;
}

/**
 * The capabilities of one device: those of its model with the overrides applied. A code that the model does not list
 * comes from the shared definitions; one that the catalog no longer knows is left out.
 */
export function resolveCapabilities(
  modelCapabilities: readonly Capability[],
  overrides: readonly CapabilityOverride[],
  findCapability: (code: string) => Capability | undefined,
): Capability[] {
  const byCode = new Map(overrides.map((override) => [override.code, override]));
  const resolved = modelCapabilities.map((capability) => {
    const override = byCode.get(capability.code);
    byCode.delete(capability.code);
    return override === undefined ? capability : overridden(capability, override);
  });
  for (const override of byCode.values()) {
    const definition = findCapability(override.code);
    if (definition !== undefined) resolved.push(overridden(definition, override));
  }
  return resolved;
}

function overridden(capability: Capability, override: CapabilityOverride): Capability {
  const changed = { ...capability, supported: override.supported, source: "device", overridden: true } as const;
  return changed.kind === "command" && override.params_schema !== null
    ? { ...changed, params_schema: override.params_schema }
    : changed;
}
