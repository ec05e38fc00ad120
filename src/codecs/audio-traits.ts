import { Type } from "@sinclair/typebox";

/** How recordings go to a model. A protocol with voice messages puts it under `audio` in its traits. */
export const AudioTraits = Type.Object(
  {
    codec: Type.Literal("amr-nb"),
    bit_rate: Type.Integer({ minimum: 4750, maximum: 12200 }),
    /** Largest part of a sent recording; null: the whole file in one frame. */
    chunk_bytes: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  },
  { additionalProperties: false },
);
