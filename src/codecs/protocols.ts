import { iw } from "./iw/protocol.ts";
import type { ProtocolDefinition } from "./protocol-definition.ts";
import { watch } from "./watch/protocol.ts";

/** All protocols that the service speaks. Adding one means its folder, its catalog data, its virtual device and a line here. */
export const protocols = [
  // First bytes are offered to them in this order.
  iw,
  watch,
] as const satisfies readonly ProtocolDefinition[];
