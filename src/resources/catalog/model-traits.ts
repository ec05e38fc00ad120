import type { Static } from "@sinclair/typebox";
import type { ProtocolSlug, TraitsSchemaOf } from "../../codecs/protocols.ts";

/** What a codec must know of a model and the API does not show. Tagged with the protocol. */
export type ModelTraits = {
  [Slug in ProtocolSlug]: { readonly protocol_slug: Slug } & Readonly<Static<TraitsSchemaOf<Slug>>>;
}[ProtocolSlug];
