import { type Static, Type } from "@sinclair/typebox";

export const Jt808Traits = Type.Object(
  {
    text_encoding: Type.Literal("gbk"),
    /** The standard's clock is GMT+8, whatever the country. */
    clock_offset_minutes: Type.Integer({ minimum: -720, maximum: 840 }),
  },
  { additionalProperties: false },
);
export type Jt808Traits = Readonly<Static<typeof Jt808Traits>>;
