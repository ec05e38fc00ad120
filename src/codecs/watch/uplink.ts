import type { SessionDevice } from "../codec.ts";
import type { DeviceInfo, TrackerMessage } from "../tracker-message.ts";
import { readNumber } from "../wire-number.ts";
import { type Content, keptText, textFields } from "./content.ts";
import { readHealth } from "./health.ts";
import { readPicture, readVoice, readVoiceChunk } from "./media.ts";
import { numberExtra, readAlarms, readPosition } from "./position.ts";

/** What a frame says, and the content of the answer the device waits for. */
export type Uplink = { messages: TrackerMessage[]; answer?: string } | { problem: string };

const signOfLife: TrackerMessage = { kind: "heartbeat" };

export function readUplink({ word, body }: Content, device: SessionDevice): Uplink {
  const name = word.toUpperCase();
  switch (name) {
    case "LK":
      return { messages: [readKeepAlive(textFields(body))], answer: "LK" };
    case "INIT":
      return { messages: [signOfLife], answer: "INIT,1" };
    case "TKQ":
    case "TKQ2":
      return { messages: [signOfLife], answer: name };
    case "TK":
    case "TK2": {
      const message = readVoice("TK", body);
      return message.kind === "voice_part" ? { messages: [message], answer: "TK,1" } : { messages: [message] };
    }
    case "JXTK": {
      const part = readVoiceChunk(body);
      return part === undefined
        ? { problem: "voice part that cannot be read" }
        : { messages: [part], answer: "JXTKR,1" };
    }
    case "IMG":
      return { messages: [readPicture(body) ?? signOfLife] };
  }
  const fields = textFields(body);
  if (name === "AL" || (name.startsWith("AL") && fields.length > 0)) return readAlarm(name, fields, device);
  if (name.startsWith("UD") || name.startsWith("WT")) {
    const position = readPosition(fields, name.startsWith("UD2"));
    if (position === undefined) return { problem: "position without coordinates" };
    return { messages: [position.fix, position.vitals] };
  }
  const reading = readHealth(name, fields);
  const echo = readEcho(name, fields);
  if (!reading) return { messages: [readInfo(name, fields) ?? echo ?? signOfLife] };
  return { messages: echo && measuringWords.has(name) ? [reading, echo] : [reading] };
}

/** Requests that some watches answer with the reading itself, under the same word. */
const measuringWords: ReadonlySet<string> = new Set(["BODYTEMP2", "OXYGEN"]);

/** With fewer than three values the numbers mean something else, or nothing. */
function readKeepAlive(fields: readonly string[]): TrackerMessage {
  if (fields.length < 3) return signOfLife;
  const metrics = { bat: readNumber(fields[2]), steps: readNumber(fields[0]) };
  return { kind: "vitals", deviceTimeMs: null, metrics, extra: numberExtra("rolls", fields[1]) };
}

/** An alarm is never refused for the sake of its position. */
function readAlarm(name: string, fields: readonly string[], device: SessionDevice): Uplink {
  const position = readPosition(fields, false);
  const alarms = readAlarms(position?.status || name, position?.fix.deviceTimeMs ?? null, device.traits);
  return { messages: [...(position ? [position.fix, position.vitals] : []), ...alarms], answer: "AL" };
}

/** `VERNO,<version>`, `TS,ver:…;imei:…` and `CONFIG,…,VER:…`. Undefined when nothing in it is of use. */
function readInfo(name: string, fields: readonly string[]): DeviceInfo | undefined {
  if (!["VERNO", "TS", "CONFIG"].includes(name)) return undefined;
  const text = keptText(fields.join(","));
  const named = (key: string): string | undefined => new RegExp(`(?:^|[;,\\s])${key}:([^;,\\s]+)`, "i").exec(text)?.[1];
  const firmware = (named("ver") ?? (name === "VERNO" ? text : "")).slice(0, 100);
  const [iccid, imsi] = [named("iccid"), named("imsi")];
  const info: DeviceInfo = {
    kind: "info",
    ...(firmware === "" ? {} : { firmware }),
    ...(iccid !== undefined && /^\d{18,22}$/.test(iccid) ? { iccid } : {}),
    ...(imsi !== undefined && /^\d{14,15}$/.test(imsi) ? { imsi } : {}),
  };
  return Object.keys(info).length > 1 ? info : undefined;
}

/** Words of ours that the device repeats when it has understood; some repeat the values too. */
const commandWords: ReadonlySet<string> = new Set(
  (
    "CR RG MESSAGE UPLOAD LZ RESET POWEROFF FACTORY HRTSTART BODYTEMP2 BTEMP2 OXYGEN SOS SOS1 SOS2 SOS3 SOSSMS PHB PHB2 " +
    "CENTER FIND CALL MONITOR LOWBAT REMOVE PEDO WALKTIME SLEEPTIME SILENCETIME REMIND FLOWER FALLDOWN FALLDET IP VERNO TS " +
    "LKSET HEALTHAUTOSET PROFILE RCAPTURE"
  ).split(" "),
);

function readEcho(name: string, fields: readonly string[]): TrackerMessage | undefined {
  if (!commandWords.has(name)) return undefined;
  return { kind: "command_answer", word: name, serial: null, isAccepted: null, fields: fields.map(keptText) };
}
