import { type Static, Type } from "@sinclair/typebox";

export const Minifinder2Traits = Type.Object(
  {
    /** 0: pendants (EV-04, EV-05, EV-07B), 1: watches (EV-W101). Their commands differ. */
    protocol_version: Type.Union([Type.Literal(0), Type.Literal(1)]),
  },
  { additionalProperties: false },
);
export type Minifinder2Traits = Static<typeof Minifinder2Traits>;
