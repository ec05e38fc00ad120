import { type Static, Type } from "@sinclair/typebox";
import { AudioTraits } from "../audio-traits.ts";
import type { Session } from "../protocol-definition.ts";

export const WatchTraits = Type.Object(
  {
    text_encoding: Type.Literal("utf-16be"),
    audio: AudioTraits,
    /** Makers disagree on this bit of the status word of an alarm. */
    alarm_bit_22: Type.Union([Type.Literal("fall"), Type.Literal("heart_rate")]),
  },
  { additionalProperties: false },
);
export type WatchTraits = Static<typeof WatchTraits>;
export type WatchSession = Session<WatchTraits>;

/** The letters that frames of the device begin with. */
export const makerOf = ({ memory }: Pick<WatchSession, "memory">): string => memory.get("maker") ?? "3G";
