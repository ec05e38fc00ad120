import { join } from "node:path";
import type { ProtocolSlug } from "../../codecs/protocols.ts";
import type { Capability } from "./capability.ts";
import { CatalogError, readCatalogData } from "./catalog-data.ts";
import type { ModelData } from "./data-schemas.ts";
import type { DeviceTypeName } from "./device-types.ts";
import { modelCapabilities, sharedCapabilities } from "./model-capabilities.ts";
import type { ModelTraits } from "./model-traits.ts";

export interface Protocol {
  readonly slug: ProtocolSlug;
  readonly name: string;
  readonly vendor: string;
  readonly transport: "tcp" | "udp" | "http";
  readonly default_port: number;
  readonly is_active: boolean;
  readonly model_count: number;
  readonly docs_url: string | null;
}

export interface Model {
  readonly slug: string;
  readonly name: string;
  readonly manufacturer: string;
  readonly protocol_slug: ProtocolSlug;
  readonly device_type: DeviceTypeName;
  readonly image_url: string | null;
  readonly is_active: boolean;
  readonly metrics: readonly string[];
  readonly has_ecg: boolean;
  readonly capability_count: number;
}

/** The device catalog. It is read once at start and never changes while the service runs. */
export interface Catalog {
  /** By slug. */
  readonly protocols: readonly Protocol[];
  /** By slug. */
  readonly models: readonly Model[];
  findProtocol(slug: string): Protocol | undefined;
  findModel(slug: string): Model | undefined;
  /** Undefined also for a model of another protocol. */
  findModelOf(protocolSlug: string, modelSlug: string): Model | undefined;
  /** The shared definition of a code, not supported; for overrides of what a model does not list. */
  findCapability(code: string): Capability | undefined;
  /** Throws for a slug that findModel does not know. */
  capabilitiesOf(modelSlug: string): readonly Capability[];
  traitsOf(modelSlug: string): ModelTraits;
}

interface Entry {
  model: Model;
  capabilities: readonly Capability[];
  traits: ModelTraits;
}

/** Throws a CatalogError that names file and place, so a broken catalog stops the start and not a request. */
export function loadCatalog(dir: string = join(import.meta.dirname, "data")): Catalog {
  const data = readCatalogData(dir);
  const shared = sharedCapabilities(data.capabilities);
  const protocols = new Map<string, Protocol>();
  const entries = new Map<string, Entry>();

  for (const { file, data: content } of data.protocols) {
    const { protocol, models } = content;
    if (file !== `${protocol.slug}.json`) {
      throw new CatalogError(file, "/protocol/slug", `the file of "${protocol.slug}" must be ${protocol.slug}.json`);
    }
    if (!models.some(({ slug }) => slug === `${protocol.slug}-generic`)) {
      throw new CatalogError(file, "/models", `model "${protocol.slug}-generic" is missing`);
    }
    const { docs_url, ...record } = protocol;
    protocols.set(protocol.slug, { ...record, model_count: models.length, docs_url });
    for (const [index, model] of models.entries()) {
      const place = `/models/${index}`;
      const other = entries.get(model.slug);
      if (other !== undefined) {
        throw new CatalogError(
          file,
          `${place}/slug`,
          `"${model.slug}" is already a model of ${other.model.protocol_slug}`,
        );
      }
      const capabilities = modelCapabilities(shared, model, file, place);
      if (!model.has_ecg && capabilities.some(({ code, supported }) => code === "ecg" && supported)) {
        throw new CatalogError(file, `${place}/has_ecg`, "must be true, the model lists the feature ecg");
      }
      const traits = { ...model.traits, protocol_slug: protocol.slug } as ModelTraits;
      entries.set(model.slug, { model: modelRecord(protocol.slug, model, capabilities), capabilities, traits });
    }
  }
  return catalogOf(protocols, entries, shared);
}

function modelRecord(protocolSlug: ProtocolSlug, model: ModelData, capabilities: readonly Capability[]): Model {
  const supported = capabilities.filter((capability) => capability.supported);
  return {
    slug: model.slug,
    name: model.name,
    manufacturer: model.manufacturer,
    protocol_slug: protocolSlug,
    device_type: model.device_type,
    image_url: model.image_url,
    is_active: model.is_active,
    metrics: supported.flatMap((capability) => (capability.kind === "telemetry" ? [capability.metric_key] : [])),
    has_ecg: model.has_ecg,
    capability_count: supported.length,
  };
}

function catalogOf(
  protocols: ReadonlyMap<string, Protocol>,
  entries: ReadonlyMap<string, Entry>,
  shared: readonly Capability[],
): Catalog {
  const definitions = new Map(deepFreeze(shared).map((capability) => [capability.code, capability]));
  for (const entry of entries.values()) deepFreeze(entry);
  const entryOf = (slug: string): Entry => {
    const entry = entries.get(slug);
    if (entry === undefined) throw new Error(`The catalog has no model "${slug}".`);
    return entry;
  };
  return Object.freeze({
    protocols: deepFreeze(bySlug([...protocols.values()])),
    models: Object.freeze(bySlug([...entries.values()].map(({ model }) => model))),
    findProtocol: (slug: string) => protocols.get(slug),
    findModel: (slug: string) => entries.get(slug)?.model,
    findModelOf: (protocolSlug: string, modelSlug: string) => {
      const model = entries.get(modelSlug)?.model;
      return model?.protocol_slug === protocolSlug ? model : undefined;
    },
    findCapability: (code: string) => definitions.get(code),
    capabilitiesOf: (modelSlug: string) => entryOf(modelSlug).capabilities,
    traitsOf: (modelSlug: string) => entryOf(modelSlug).traits,
  });
}

const bySlug = <Row extends { slug: string }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => (a.slug < b.slug ? -1 : Number(a.slug > b.slug)));

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
