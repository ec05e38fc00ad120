import { zoneOffsetMinutes } from "../../lib/zone-offset.ts";
import { type Downlink, type Session, UnsupportedDownlink, type WorkingMode } from "../protocol-definition.ts";
import { writeFrame } from "./framing.ts";

/** Commands are texts in a frame of type 80. The server flag is the serial: answers repeat it. */

export const modeSeconds = { normal: 600, power_saving: 3600, emergency: 60 } as const satisfies Record<
  WorkingMode,
  number
>;

/** A flag of 32 bits above zero: zero is what units write in texts that answer nobody. */
export const serialOf = (sequence: number): string => String((sequence % 0x7fff_ffff) + 1);

type Params = Readonly<Record<string, unknown>>;
type Writer = (params: Params, nowMs: number) => string;

const english = Buffer.from([0x00, 0x02]);

export function encodeDownlink(downlink: Downlink, session: Pick<Session, "nowMs">): Buffer[] {
  switch (downlink.kind) {
    case "command": {
      const write = Object.hasOwn(writers, downlink.type) ? writers[downlink.type] : undefined;
      if (write === undefined) throw new UnsupportedDownlink(`gt06 has no command for ${downlink.type}`);
      return [commandFrame(write(downlink.params, session.nowMs), Number(downlink.serial))];
    }
    case "clock":
      // The unit asks for the time itself, with 8A.
      return [];
    default:
      throw new UnsupportedDownlink("gt06 has no messages");
  }
}

function commandFrame(text: string, flag: number): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(4 + text.length);
  header.writeUInt32BE(flag, 1);
  return writeFrame(0x80, Buffer.concat([header, Buffer.from(text, "latin1"), english]), flag & 0xffff);
}

const writers: Readonly<Record<string, Writer>> = {
  locate_now: () => "WHERE#",
  set_working_mode: (params) => timer(secondsOf(params)),
  set_report_interval: (params) => timer(number(params, "interval_seconds")),
  set_timezone: (params, nowMs) => zone(offsetMinutes(params, nowMs)),
  restart: () => "RESET#",
  factory_reset: () => "FACTORY#",
};

/** The same interval with the ignition on and off: people have none. */
const timer = (seconds: number): string => `TIMER,${seconds},${seconds}#`;

function secondsOf(params: Params): number {
  const { mode } = params;
  if (mode === "custom") return number(params, "interval_seconds");
  if (mode === "normal" || mode === "power_saving" || mode === "emergency") return modeSeconds[mode];
  throw new UnsupportedDownlink("cannot send without a proper mode");
}

function zone(minutes: number): string {
  const distance = Math.abs(minutes);
  return `GMT,${minutes < 0 ? "W" : "E"},${Math.floor(distance / 60)},${distance % 60}#`;
}

function offsetMinutes(params: Params, nowMs: number): number {
  const { timezone } = params;
  if (typeof timezone !== "string") return number(params, "utc_offset_minutes");
  try {
    return zoneOffsetMinutes(timezone, nowMs);
  } catch (cause) {
    throw new UnsupportedDownlink(`there is no time zone ${timezone}`, { cause });
  }
}

function number(params: Params, name: string): number {
  const value = params[name];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new UnsupportedDownlink(`cannot send without a proper ${name}`);
}
