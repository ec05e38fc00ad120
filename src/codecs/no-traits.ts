import { Type } from "@sinclair/typebox";

/** For protocols whose models do not differ in anything that the codec must know. */
export const NoTraits = Type.Object({}, { additionalProperties: false });
