import { type Static, type TSchema, Type } from "@sinclair/typebox";

/** What the codecs must know of a model and the API does not show. Protocols whose models do not differ have no traits. */

const exact = { additionalProperties: false };

const Audio = Type.Object(
  {
    codec: Type.Literal("amr-nb"),
    bit_rate: Type.Integer({ minimum: 4750, maximum: 12200 }),
    /** Largest part of a sent recording; null: the whole file in one frame. */
    chunk_bytes: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  },
  exact,
);

const IwTraits = Type.Object(
  {
    /** A: GPS Watch papers 2016 to 2023, B: Thinkrace V2.9 and V3.03, C: kids' watches 2014 to 2017. */
    dialect: Type.Union([Type.Literal("A"), Type.Literal("B"), Type.Literal("C")]),
    /** Names in BP14 and BP28. */
    name_encoding: Type.Union([Type.Literal("utf-16be"), Type.Literal("utf-16le")]),
    text_encoding: Type.Union([Type.Literal("utf-16be"), Type.Literal("gb2312")]),
    audio: Audio,
  },
  exact,
);

const WatchTraits = Type.Object(
  {
    text_encoding: Type.Literal("utf-16be"),
    audio: Audio,
    /** Makers disagree on this bit of the status word of an alarm. */
    alarm_bit_22: Type.Union([Type.Literal("fall"), Type.Literal("heart_rate")]),
  },
  exact,
);

const Jt808Traits = Type.Object(
  {
    text_encoding: Type.Literal("gbk"),
    /** The standard's clock is GMT+8, whatever the country. */
    clock_offset_minutes: Type.Integer({ minimum: -720, maximum: 840 }),
  },
  exact,
);

const Gl200Traits = Type.Object({ command_password: Type.String({ maxLength: 20 }) }, exact);

const NoTraits = Type.Object({}, exact);

/** By protocol slug. A protocol without an entry is not known to the catalog. */
export const TRAITS_SCHEMAS = {
  iw: IwTraits,
  watch: WatchTraits,
  gt06: NoTraits,
  jt808: Jt808Traits,
  h02: NoTraits,
  teltonika: NoTraits,
  minifinder2: NoTraits,
  gl200: Gl200Traits,
  osmand: NoTraits,
} as const satisfies Record<string, TSchema>;

export type ProtocolSlug = keyof typeof TRAITS_SCHEMAS;

/** Tagged with the protocol, so a codec narrows it once: `if (traits.protocol_slug === "iw")`. */
export type ModelTraits = {
  [Slug in ProtocolSlug]: { readonly protocol_slug: Slug } & Readonly<Static<(typeof TRAITS_SCHEMAS)[Slug]>>;
}[ProtocolSlug];
