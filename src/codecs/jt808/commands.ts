import { UnsupportedDownlink, type WorkingMode } from "../protocol-definition.ts";
import { makeGbEncoder } from "../wire/gb-text.ts";

/** The commands of the API as messages of the standard. Parameters have been checked against the catalog before. */
export type Params = Readonly<Record<string, unknown>>;

export interface Message {
  id: number;
  body: Buffer;
}

/** There is no working mode, only the time between two reports. */
export const modeSeconds: Readonly<Record<WorkingMode, number>> = { normal: 600, power_saving: 3600, emergency: 60 };

const sleepInterval = 0x0027;
const defaultInterval = 0x0029;

const encodeText = makeGbEncoder();
const plain = (id: number, ...body: number[]): Message => ({ id, body: Buffer.from(body) });

export function commandMessage(type: string, params: Params, is2019: boolean): Message {
  switch (type) {
    case "locate_now":
      return plain(0x8201);
    case "send_message":
      return textMessage(text(params, "text"), is2019);
    case "set_report_interval":
      return parameters([[defaultInterval, number(params, "interval_seconds")]]);
    case "set_working_mode": {
      const seconds = secondsOf(params);
      return parameters([
        [sleepInterval, seconds],
        [defaultInterval, seconds],
      ]);
    }
    case "power_off":
      return plain(0x8105, 3);
    case "restart":
      return plain(0x8105, 4);
    case "factory_reset":
      return plain(0x8105, 5);
    default:
      throw new UnsupportedDownlink(`terminals know no ${type}`);
  }
}

/** To be handled at once, shown and spoken. Since 2019 a kind follows: a notice. */
export function textMessage(content: string, is2019: boolean): Message {
  const flags = 0x01 | 0x04 | 0x08;
  return { id: 0x8300, body: Buffer.concat([Buffer.from(is2019 ? [flags, 1] : [flags]), encodeText(content)]) };
}

/** 8103: how many, then number, length and value of each. */
function parameters(values: readonly (readonly [id: number, value: number])[]): Message {
  const entries = values.map(([id, value]) => {
    const entry = Buffer.alloc(9);
    entry.writeUInt32BE(id, 0);
    entry.writeUInt8(4, 4);
    entry.writeUInt32BE(value, 5);
    return entry;
  });
  return { id: 0x8103, body: Buffer.concat([Buffer.of(values.length), ...entries]) };
}

function secondsOf(params: Params): number {
  const mode = text(params, "mode");
  if (mode === "custom") return number(params, "interval_seconds");
  return Object.hasOwn(modeSeconds, mode) ? modeSeconds[mode as WorkingMode] : unreadable("mode");
}

function text(params: Params, name: string): string {
  const value = params[name];
  return typeof value === "string" ? value : unreadable(name);
}

function number(params: Params, name: string): number {
  const value = params[name];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : unreadable(name);
}

function unreadable(name: string): never {
  throw new UnsupportedDownlink(`cannot send without a proper ${name}`);
}
