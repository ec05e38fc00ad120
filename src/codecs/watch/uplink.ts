import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, SessionDevice } from "../protocol-definition.ts";
import type { DeviceInfo, TrackerMessage } from "../tracker-message.ts";
import { readNumber } from "../wire/numbers.ts";
import { messageAnswer, readEcho } from "./answers.ts";
import { type Content, keptText, readContent, textFields } from "./content.ts";
import { type Frame, readEnvelope, writeFrame } from "./envelope.ts";
import { readHealth } from "./health.ts";
import { readPicture, readVoice, readVoiceChunk } from "./media.ts";
import { numberExtra, readAlarms, readPosition } from "./position.ts";
import { makerOf, type WatchSession, type WatchTraits } from "./traits.ts";

/** What a frame says, and the content of the answer the device waits for. */
interface Uplink {
  messages: TrackerMessage[];
  answer?: string;
  /** The answer to a part of a recording that is refused. */
  refusal?: string;
}

export function readFrame(raw: Buffer, session: WatchSession): FrameContent {
  const frame = readEnvelope(raw);
  if (frame === undefined) throw new MalformedFrame("frame that cannot be read");
  const { device } = session;
  if (device === undefined) {
    remember(session, frame);
    return { messages: [{ kind: "login", id: frame.id }], replies: [], isReadAgain: true };
  }
  if (frame.id !== device.id) throw new MalformedFrame("another id on this connection");
  const content = readContent(frame.content);
  if (content === undefined) throw new MalformedFrame("content that cannot be read");
  const { messages, answer, refusal } = readUplink(content, device);
  remember(session, frame);
  const frameOf = (text: string): Buffer => writeFrame({ ...frame, content: Buffer.from(text, "latin1") });
  const replies = answer === undefined ? [] : [frameOf(answer)];
  return { messages, replies, ...(refusal === undefined ? {} : { refusals: [frameOf(refusal)] }) };
}

/** Downlinks begin like the frames of the device. */
function remember(session: WatchSession, { maker, index }: Frame): void {
  // Most have the usual letters, and need no note of them.
  if (maker !== makerOf(session)) session.memory.set("maker", maker);
  if (index !== undefined) session.memory.set("index", index);
}

const signOfLife: TrackerMessage = { kind: "heartbeat" };

function readUplink({ word, body }: Content, device: SessionDevice<WatchTraits>): Uplink {
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
      const message = readVoice(body);
      return message.kind === "voice_part"
        ? { messages: [message], answer: "TK,1", refusal: "TK,0" }
        : { messages: [message] };
    }
    case "JXTK": {
      const part = readVoiceChunk(body);
      if (part === undefined) throw new MalformedFrame("voice part that cannot be read");
      return { messages: [part], answer: "JXTKR,1", refusal: "JXTKR,0" };
    }
    case "IMG":
      return { messages: [readPicture(body) ?? signOfLife] };
  }
  const fields = textFields(body);
  if (name === "AL" || (name.startsWith("AL") && fields.length > 0)) return readAlarm(name, fields, device);
  if (name.startsWith("UD") || name.startsWith("WT")) {
    const position = readPosition(fields, name.startsWith("UD2"));
    if (position === undefined) throw new MalformedFrame("position without coordinates");
    return { messages: [position.fix, position.vitals] };
  }
  const reading = readHealth(name, fields);
  const echo = readEcho(name, fields);
  if (name === "MESSAGE" && echo) return { messages: [echo, messageAnswer("text", true)] };
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
function readAlarm(name: string, fields: readonly string[], device: SessionDevice<WatchTraits>): Uplink {
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
