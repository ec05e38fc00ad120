import { type Static, Type } from "@sinclair/typebox";

export const Gl200Traits = Type.Object(
  {
    /** Of the AT commands; the default of a device is the name of its model in lower case. */
    command_password: Type.String({ maxLength: 20 }),
    /** The device waits for an answer to each report (SACK), and sends it again without one. */
    sack: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type Gl200Traits = Static<typeof Gl200Traits>;
