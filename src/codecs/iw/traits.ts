import { type Static, Type } from "@sinclair/typebox";
import { AudioTraits } from "../audio-traits.ts";

export const IwTraits = Type.Object(
  {
    /** A: GPS Watch papers 2016 to 2023, B: Thinkrace V2.9 and V3.03, C: kids' watches 2014 to 2017. */
    dialect: Type.Union([Type.Literal("A"), Type.Literal("B"), Type.Literal("C")]),
    /** Names in BP14 and BP28. */
    name_encoding: Type.Union([Type.Literal("utf-16be"), Type.Literal("utf-16le")]),
    text_encoding: Type.Union([Type.Literal("utf-16be"), Type.Literal("gb2312")]),
    audio: AudioTraits,
  },
  { additionalProperties: false },
);
export type IwTraits = Static<typeof IwTraits>;
