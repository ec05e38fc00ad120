import { zoneOffsetMinutes } from "../../lib/zone-offset.ts";
import { type Downlink, type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import { commands, writeFrame } from "./framing.ts";
import { writeItem } from "./items.ts";
import type { Minifinder2Traits } from "./traits.ts";

/** The device copies the sequence id of a command into its answer, so the serial is that id. */
export function encodeDownlink(downlink: Downlink, session: Session<Minifinder2Traits>): Buffer[] {
  // The device asks for the time itself.
  if (downlink.kind === "clock") return [];
  if (downlink.kind !== "command") throw new UnsupportedDownlink("Eview devices show no texts and play no voice");
  const version = session.device?.traits.protocol_version ?? (session.memory.get("version") === "1" ? 1 : 0);
  const payload = payloadOf(downlink.type, downlink.params, version, session.nowMs);
  return [writeFrame(payload, Number(downlink.serial), version, true)];
}

type Params = Readonly<Record<string, unknown>>;

/** The words keep a scan through all keys from switching the device off. */
const controls: Readonly<Record<string, readonly [key: number, value: Buffer]>> = {
  find_device: [0x10, Buffer.from([1])],
  factory_reset: [0x20, Buffer.from("recovery")],
  power_off: [0x21, Buffer.from("normal")],
  restart: [0x22, Buffer.from("safe")],
};

function payloadOf(type: string, params: Params, version: 0 | 1, nowMs: number): Buffer {
  if (type === "set_timezone") {
    const quarters = Buffer.from(Int8Array.of(Math.round(offsetMinutes(params, nowMs) / 15)).buffer);
    return Buffer.concat([Buffer.from([commands.configuration]), writeItem(version === 1 ? 0x34 : 0x0e, quarters)]);
  }
  const control = version === 1 && Object.hasOwn(controls, type) ? controls[type] : undefined;
  if (control === undefined) throw new UnsupportedDownlink(`version ${version} of the protocol knows no ${type}`);
  return Buffer.concat([Buffer.from([commands.control]), writeItem(...control)]);
}

function offsetMinutes({ timezone, utc_offset_minutes: minutes }: Params, nowMs: number): number {
  if (typeof minutes === "number" && Number.isFinite(minutes)) return minutes;
  try {
    return zoneOffsetMinutes(String(timezone), nowMs);
  } catch (cause) {
    throw new UnsupportedDownlink(`there is no time zone ${String(timezone)}`, { cause });
  }
}

/** Watches keep the numbers from D000 on for themselves. An even span keeps commands and messages apart. */
export const serialOf = (sequence: number): string => String(1 + (Math.abs(sequence) % 0xcffe));
