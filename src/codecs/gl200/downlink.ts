import { type Downlink, type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import type { Gl200Traits } from "./traits.ts";

/** Real time operations, by their number. The reset keeps the address of the server. */
const operations: Readonly<Record<string, string>> = {
  locate_now: "1",
  restart: "3",
  factory_reset: "4",
  power_off: "5",
};

/** The device repeats the serial in its answer. */
export function encodeDownlink(downlink: Downlink, session: Session<Gl200Traits>): Buffer[] {
  // The device takes the time from its satellites.
  if (downlink.kind === "clock") return [];
  if (downlink.kind !== "command") throw new UnsupportedDownlink("Queclink trackers show no texts and play no voice");
  const operation = Object.hasOwn(operations, downlink.type) ? operations[downlink.type] : undefined;
  if (operation === undefined) throw new UnsupportedDownlink(`Queclink trackers know no ${downlink.type}`);
  const password = session.device?.traits.command_password ?? "";
  return [Buffer.from(`AT+GTRTO=${password},${operation},,,,,,${downlink.serial}$`, "latin1")];
}

/** Four hexadecimal digits; FFFF is what other servers send for everything. An even span keeps commands and messages apart. */
export const serialOf = (sequence: number): string =>
  (1 + (Math.abs(sequence) % 0xfffe)).toString(16).toUpperCase().padStart(4, "0");
