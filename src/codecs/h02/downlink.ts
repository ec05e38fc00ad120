import { type Downlink, type Session, UnsupportedDownlink, type WorkingMode } from "../protocol-definition.ts";
import { makerKey } from "./uplink.ts";

/** `*HQ,<id>,<word>,<hhmmss>,…#`. The device repeats the time in its answer, so the time is the serial of the command. */

export const modeSeconds = { normal: 600, power_saving: 3600, emergency: 60 } as const satisfies Record<
  WorkingMode,
  number
>;

/** A time of day that is the serial; the device does not set its clock by it. */
export function serialOf(sequence: number): string {
  const seconds = sequence % 86_400;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join("");
}

type Params = Readonly<Record<string, unknown>>;
type Writer = (params: Params) => [word: string, ...values: string[]];

export function encodeDownlink(downlink: Downlink, { device, memory }: Session): Buffer[] {
  if (device === undefined) throw new UnsupportedDownlink("nobody has logged in");
  switch (downlink.kind) {
    case "command": {
      const write = Object.hasOwn(writers, downlink.type) ? writers[downlink.type] : undefined;
      if (write === undefined) throw new UnsupportedDownlink(`h02 has no command for ${downlink.type}`);
      const [word, ...values] = write(downlink.params);
      const fields = [memory.get(makerKey) ?? "HQ", device.id, word, downlink.serial, ...values];
      return [Buffer.from(`*${fields.join(",")}#`, "latin1")];
    }
    case "clock":
      // The answer to V1 carries the time.
      return [];
    default:
      throw new UnsupportedDownlink("h02 has no messages");
  }
}

const writers: Readonly<Record<string, Writer>> = {
  /** One report, ten seconds from now. */
  locate_now: () => ["D1", "10", "1"],
  set_working_mode: (params) => interval(secondsOf(params)),
  set_report_interval: (params) => interval(number(params, "interval_seconds")),
  restart: () => ["R1"],
};

const interval = (seconds: number): [string, ...string[]] => ["S71", "22", String(seconds)];

function secondsOf(params: Params): number {
  const { mode } = params;
  if (mode === "custom") return number(params, "interval_seconds");
  if (mode === "normal" || mode === "power_saving" || mode === "emergency") return modeSeconds[mode];
  throw new UnsupportedDownlink("cannot send without a proper mode");
}

function number(params: Params, name: string): number {
  const value = params[name];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new UnsupportedDownlink(`cannot send without a proper ${name}`);
}
