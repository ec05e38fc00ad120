import { gl200 } from "./gl200/protocol.ts";
import { iw } from "./iw/protocol.ts";
import { minifinder2 } from "./minifinder2/protocol.ts";
import { osmand } from "./osmand/protocol.ts";
import type { ProtocolDefinition } from "./protocol-definition.ts";
import { watch } from "./watch/protocol.ts";

/** All protocols that the service speaks. Adding one means its folder, its catalog data, its virtual device and a line here. */
export const protocols = [
  // First bytes are offered to them in this order.
  iw,
  watch,
  gl200,
  minifinder2,
  osmand,
] as const satisfies readonly ProtocolDefinition[];
