import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";

/** There is nobody to write to: a phone asks, and hangs up. */
export function encodeDownlink(downlink: Downlink): Buffer[] {
  if (downlink.kind === "clock") return [];
  throw new UnsupportedDownlink("phones take no commands");
}
