import { metricKeys } from "../../codecs/metric-keys.ts";
import type { SchemaChecker } from "../../http/schema-check.ts";
import {
  CAPABILITY_KINDS,
  type Capability,
  type CapabilityKind,
  COMMAND_TYPES,
  type ParamsSchema,
} from "./capability.ts";
import { CatalogError } from "./catalog-data.ts";
import type { CapabilitiesFile, Differences, ModelData } from "./data-schemas.ts";
import { makeParamsChecker } from "./params-validator.ts";

const GROUPS = {
  command: "commands",
  telemetry: "telemetry",
  messaging: "messaging",
  event: "events",
  feature: "features",
} as const satisfies Record<CapabilityKind, keyof CapabilitiesFile>;

const DIFFERENCES: Record<CapabilityKind, readonly (keyof Differences)[]> = {
  command: ["supported", "requires_ack", "ack_timeout_seconds", "params_schema"],
  messaging: ["supported", "max_length", "max_duration_ms", "languages", "voices"],
  telemetry: ["supported"],
  event: ["supported"],
  feature: ["supported"],
};

/** The kinds whose full table every model shows, so that a partner also sees what a device cannot do. */
const FULL_TABLES: readonly CapabilityKind[] = ["command", "messaging"];

/** Every capability the catalog knows, not supported, in the order of the file. */
export function sharedCapabilities(data: CapabilitiesFile): Capability[] {
  const file = "capabilities.json";
  const shared: Capability[] = [];
  const places = new Map<string, string>();
  const checker = makeParamsChecker();
  for (const kind of CAPABILITY_KINDS) {
    for (const [index, definition] of data[GROUPS[kind]].entries()) {
      const place = `/${GROUPS[kind]}/${index}`;
      const earlier = places.get(definition.code);
      if (earlier !== undefined) {
        throw new CatalogError(file, place, `code "${definition.code}" is already used at ${earlier}`);
      }
      places.set(definition.code, place);
      const { event_type: _, code, label, category, ...rest } = { event_type: null, ...definition };
      const head = { code, kind, label, category, supported: false };
      const capability = { ...head, ...rest, source: "catalog", overridden: false } as Capability;
      if (capability.kind === "command") checkParamsSchema(checker, capability.params_schema, file, place);
      if (capability.kind === "telemetry" && capability.metric_key !== capability.code) {
        throw new CatalogError(file, place, "code and metric_key must be equal");
      }
      shared.push(capability);
    }
  }
  const missing = [...COMMAND_TYPES, ...metricKeys].find((code) => !places.has(code));
  if (missing !== undefined) throw new CatalogError(file, "", `"${missing}" is not defined`);
  return shared;
}

/** What the model lists, with its differences, and the full tables; in the order of the shared file. */
export function modelCapabilities(
  shared: readonly Capability[],
  model: ModelData,
  file: string,
  place: string,
): Capability[] {
  const listed = listedCodes(shared, model, file, place);
  const differences = model.differences ?? {};
  for (const [code, difference] of Object.entries(differences)) {
    checkDifference(listed.get(code), difference, file, `${place}/differences/${code}`);
  }
  return shared
    .filter(({ code, kind }) => listed.has(code) || FULL_TABLES.includes(kind))
    .map((capability) =>
      listed.has(capability.code)
        ? ({ ...capability, supported: true, ...differences[capability.code] } as Capability)
        : capability,
    );
}

function listedCodes(shared: readonly Capability[], model: ModelData, file: string, place: string) {
  const kinds = new Map(shared.map(({ code, kind }) => [code, kind]));
  const listed = new Map<string, CapabilityKind>();
  for (const kind of CAPABILITY_KINDS) {
    for (const [index, code] of model[GROUPS[kind]].entries()) {
      if (kinds.get(code) !== kind) {
        throw new CatalogError(file, `${place}/${GROUPS[kind]}/${index}`, `"${code}" is not a known ${kind}`);
      }
      listed.set(code, kind);
    }
  }
  return listed;
}

function checkDifference(kind: CapabilityKind | undefined, difference: Differences, file: string, place: string): void {
  if (kind === undefined) throw new CatalogError(file, place, "the model does not list this code");
  const stray = (Object.keys(difference) as (keyof Differences)[]).find((key) => !DIFFERENCES[kind].includes(key));
  if (stray !== undefined) throw new CatalogError(file, place, `a ${kind} has no "${stray}"`);
  if (difference.params_schema !== undefined)
    checkParamsSchema(makeParamsChecker(), difference.params_schema, file, place);
}

function checkParamsSchema(checker: SchemaChecker, schema: ParamsSchema, file: string, place: string): void {
  try {
    checker.compile(schema);
  } catch (error) {
    throw new CatalogError(file, `${place}/params_schema`, (error as Error).message, { cause: error });
  }
}
