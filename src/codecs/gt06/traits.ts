import { type Static, Type } from "@sinclair/typebox";

export const Gt06Traits = Type.Object(
  {
    /** What follows the flags in frame 13: the battery in steps or percent, which is the default, or the supply voltage. */
    status_layout: Type.Optional(Type.Union([Type.Literal("battery"), Type.Literal("voltage")])),
  },
  { additionalProperties: false },
);
export type Gt06Traits = Static<typeof Gt06Traits>;
