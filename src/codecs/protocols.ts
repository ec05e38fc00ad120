import { gl200 } from "./gl200/protocol.ts";
import { gt06 } from "./gt06/protocol.ts";
import { h02 } from "./h02/protocol.ts";
import { iw } from "./iw/protocol.ts";
import { jt808 } from "./jt808/protocol.ts";
import { minifinder2 } from "./minifinder2/protocol.ts";
import { osmand } from "./osmand/protocol.ts";
import type { ProtocolDefinition, ProtocolRules } from "./protocol-definition.ts";
import { teltonika } from "./teltonika/protocol.ts";
import { watch } from "./watch/protocol.ts";

/** All protocols that the service speaks. Adding one means its folder, its catalog data, its virtual device and a line here. */
export const protocols = [
  // First bytes are offered to them in this order.
  iw,
  watch,
  gl200,
  minifinder2,
  osmand,
  gt06,
  h02,
  jt808,
  teltonika,
] as const satisfies readonly ProtocolDefinition[];

type Spoken = (typeof protocols)[number];

/** Protocols that the gateway speaks. */
export type SpokenSlug = Spoken["slug"];
/** Protocols that devices can be registered with. */
export type ProtocolSlug = SpokenSlug;
/** The schema of a protocol's traits. */
export type TraitsSchemaOf<Slug extends ProtocolSlug> = Extract<Spoken, { slug: Slug }>["traits"];

const rulesBySlug: ReadonlyMap<string, ProtocolRules> = new Map(
  protocols.map((rules): [string, ProtocolRules] => [rules.slug, rules]),
);

export const protocolRules: readonly ProtocolRules[] = [...rulesBySlug.values()];
export const protocolSlugs = [...rulesBySlug.keys()] as ProtocolSlug[];

/** Throws for a slug that is not in the list. */
export function rulesOf(slug: string): ProtocolRules {
  const rules = rulesBySlug.get(slug);
  if (rules === undefined) throw new Error(`There is no protocol "${slug}".`);
  return rules;
}
