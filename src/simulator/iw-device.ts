import { readUtf16Hex } from "../codecs/wire/utf16-text.ts";
import {
  type AlarmKind,
  type Command,
  type DeviceProtocol,
  type Effect,
  type Identity,
  type Measurement,
  type Packet,
  type ServerMessage,
  type Snapshot,
  utcParts,
} from "./device-protocol.ts";
import type { EcgRecording } from "./ecg.ts";
import type { SeenAccessPoint } from "./sighting.ts";

/** A is the health watch of 2016 to 2023 (H10), B the Thinkrace one (PT880). */
export type IwDialect = "A" | "B";

const chunkBytes = 1024;
const maxFrameBytes = 16_384;

export function makeIwDevice(dialect: IwDialect): DeviceProtocol {
  return {
    login: ({ imei }) => frame("00", dialect === "B" ? `${imei},${iccidOf(imei)},${imsiOf(imei)}DCX` : imei),
    heartbeat: (_, now) => frame("03", `,${statusBlock(now)},${now.life.steps},0`),
    location: (_, now, isStored) => frame(isStored ? "91" : "01", `${positionBlock(now)},${network(now)}${wifi(now)}`),
    alarm: (_, now, alarm) =>
      frame("10", `${positionBlock(now)},${network(now)},${alarmCodes[alarm]},en,00${wifi(now) || ","}`),
    readings: (_, now, what) => (dialect === "A" ? plainReadings(now, what) : timedReadings(now, what)),
    voice: (_, now, amr) => voiceParts(now, amr),
    ecg: (_, recording) => (dialect === "A" ? ecgParts(recording) : []),
    read: (self, bytes) => read(self, bytes, dialect),
  };
}

const frame = (code: string, payload: string): Packet => ({
  bytes: Buffer.from(`IWAP${code}${payload}#`, "latin1"),
  answer: code,
});

const digits = (value: number, length: number): string => String(Math.round(value)).padStart(length, "0");

/** The SIM is that of the device as long as it lives. */
const iccidOf = (imei: string): string => `8939${imei}7`;
const imsiOf = (imei: string): string => `22201${imei.slice(5)}`;

function coordinate(value: number, degreeDigits: number, letters: string): string {
  const tenThousandths = Math.round(Math.abs(value) * 600_000);
  const minutes = ((tenThousandths % 600_000) / 10_000).toFixed(4).padStart(7, "0");
  return digits(Math.floor(tenThousandths / 600_000), degreeDigits) + minutes + letters[value < 0 ? 1 : 0];
}

/** GSM, satellites, battery, remaining space, fortification, working mode. */
const statusBlock = ({ seen, life }: Snapshot): string =>
  `${digits(seen.gsmPercent, 3)}${digits(seen.gps?.satellites ?? 0, 3)}${digits(life.battery, 3)}00001`;

function positionBlock(now: Snapshot): string {
  const { year, month, day, clock } = utcParts(now.atMs);
  const { gps } = now.seen;
  const place = gps
    ? `A${coordinate(gps.lat, 2, "NS")}${coordinate(gps.lng, 3, "EW")}${gps.speedKmh.toFixed(1).padStart(5, "0")}`
    : "V0000.0000N00000.0000E000.0";
  const course = (gps?.heading ?? 0).toFixed(2).padStart(6, "0");
  return year.slice(2) + month + day + place + clock + course + statusBlock(now);
}

function network({ seen }: Snapshot): string {
  const cell = seen.cells[0];
  return `${seen.mcc},${seen.mnc},${cell?.lac ?? 0},${cell?.cid ?? 0}`;
}

const wifi = ({ seen }: Snapshot): string =>
  seen.accessPoints.length === 0 ? "" : `,${seen.accessPoints.map(accessPoint).join("&")}`;
const accessPoint = ({ ssid, mac, signalDbm }: SeenAccessPoint): string =>
  `${ssid}|${mac.replaceAll(":", "-").toUpperCase()}|${signalDbm}`;

const alarmCodes: Record<AlarmKind, string> = { sos: "01", low_battery: "02", fall: "06" };

function plainReadings({ life }: Snapshot, what: Measurement): Packet[] {
  const { pulse, systolic, diastolic, oxygen, temperature, battery } = life;
  switch (what) {
    case "pulse":
      return [frame("49", `,${pulse}`)];
    case "pressure":
      return [frame("HT", `,${pulse},${systolic},${diastolic}`)];
    case "oxygen":
      return [frame("HP", `,,,,${oxygen},,`)];
    case "temperature":
      return [frame("50", `,${temperature.toFixed(1)},${battery}`)];
    case "all":
      return [frame("HP", `,${pulse},${systolic},${diastolic},${oxygen},,${temperature.toFixed(1)}`)];
  }
}

function timedReadings({ life, atMs }: Snapshot, what: Measurement): Packet[] {
  const time = compactTime(atMs);
  const reading = (type: number, value: string | number): Packet => frame("JK", `,${time},${type},${value}`);
  const pressure = reading(1, `${life.diastolic}|${life.systolic}`);
  const pulse = reading(2, life.pulse);
  const temperature = reading(3, life.temperature.toFixed(1));
  const oxygen = reading(4, life.oxygen);
  if (what === "all") return [pulse, pressure, oxygen, temperature];
  return [{ pulse, pressure, oxygen, temperature }[what]];
}

function compactTime(timeMs: number): string {
  const { year, month, day, clock } = utcParts(timeMs);
  return year + month + day + clock;
}

/** Every part waits for an answer that names it. */
function voiceParts({ atMs }: Snapshot, amr: Buffer): Packet[] {
  const total = Math.ceil(amr.length / chunkBytes);
  return Array.from({ length: total }, (_, index) => {
    const data = amr.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    const part = `${compactTime(atMs)},${total},${index + 1}`;
    const head = Buffer.from(`IWAP07,${part},${data.length},`, "latin1");
    return { bytes: Buffer.concat([head, data, Buffer.from("#")]), answer: `07,${part}` };
  });
}

const ecgGain = 10;
const ecgPartSamples = 500;
/** Microvolts of one unit of a sample. */
const ecgPointVoltage = 2.5;

function ecgParts({ startMs, samplingRateHz, samples }: EcgRecording): Packet[] {
  const total = Math.ceil(samples.length / ecgPartSamples);
  return Array.from({ length: total }, (_, index) => {
    const part = samples.slice(index * ecgPartSamples, (index + 1) * ecgPartSamples);
    const data = Buffer.alloc(part.length * 2);
    for (const [at, microvolts] of part.entries()) data.writeInt16BE(Math.round(microvolts / ecgPointVoltage), at * 2);
    const head = [compactTime(startMs), total, index + 1, ecgGain, ecgPointVoltage, 1, samplingRateHz, data.length];
    return frame("HD", `,${head.join(",")},${data.toString("hex").toUpperCase()}`);
  });
}

function read(self: Identity, bytes: Buffer, dialect: IwDialect): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let at = 0;
  for (;;) {
    const start = bytes.indexOf("IW", at, "latin1");
    if (start === -1) return { messages, rest: bytes.subarray(Math.max(at, bytes.length - 1)) };
    const end = endOfFrame(bytes, start);
    if (end === undefined) return { messages, rest: bytes.subarray(start) };
    messages.push(
      end === "unreadable" ? { kind: "unreadable" } : understand(self, bytes.subarray(start, end), dialect),
    );
    at = end === "unreadable" ? start + 2 : end;
  }
}

/** One past the closing `#`. Voice holds any byte, so its end follows from its length. */
function endOfFrame(bytes: Buffer, start: number): number | "unreadable" | undefined {
  const isVoice = bytes.toString("latin1", start, start + 7) === "IWBP28,";
  let headEnd = start;
  if (isVoice) {
    for (let comma = 0; comma < 6; comma++) {
      headEnd = bytes.indexOf(",", headEnd, "latin1") + 1;
      if (headEnd === 0) return bytes.length - start > maxFrameBytes ? "unreadable" : undefined;
    }
    const length = Number(bytes.toString("latin1", start, headEnd).split(",")[5]);
    if (!Number.isInteger(length) || length < 0 || length > maxFrameBytes) return "unreadable";
    if (bytes.length <= headEnd + length) return undefined;
    return bytes[headEnd + length] === 0x23 ? headEnd + length + 1 : "unreadable";
  }
  const hash = bytes.indexOf("#", start, "latin1");
  if (hash !== -1) return hash + 1;
  return bytes.length - start > maxFrameBytes ? "unreadable" : undefined;
}

function understand(self: Identity, bytes: Buffer, dialect: IwDialect): ServerMessage {
  const code = bytes.toString("latin1", 4, 6);
  if (bytes.toString("latin1", 2, 4) !== "BP") return { kind: "unreadable" };
  if (code === "28") return voiceFromServer(bytes);
  const fields = bytes.toString("latin1", 6, bytes.length - 1).split(",");
  if (fields[0] === "" && fields[1] === self.imei && fields[2] !== undefined) {
    return command(code, fields[2], fields.slice(3), dialect);
  }
  if (code === "07") {
    return { kind: "answer", answer: `07,${fields.slice(1, 4).join(",")}`, isRefusal: fields[4] === "0" };
  }
  return { kind: "answer", answer: code, isRefusal: false };
}

function voiceFromServer(bytes: Buffer): Command {
  const head = bytes.toString("latin1", 0, 256).split(",", 6);
  const [, sender = "", extra = "", total = "", sequence = "", length = ""] = head;
  const answer = (isTaken: boolean): Buffer =>
    Buffer.from(`IWAP28,${sender},${extra},${total},${sequence},${isTaken ? 1 : 0}#`, "latin1");
  const data = bytes.subarray(bytes.length - 1 - Number(length), bytes.length - 1);
  const part = { transfer: extra, total: Number(total), sequence: Number(sequence), bytes: Buffer.from(data) };
  const isText = part.total === 0;
  return {
    kind: "command",
    word: "28",
    values: head.slice(1),
    acks: [answer(true)],
    refusals: [answer(false)],
    effect: isText
      ? { kind: "text", text: readUtf16Hex(data.toString("latin1")) ?? "" }
      : { kind: "voice_part", ...part },
  };
}

/** Codes whose acknowledgement repeats the value. */
const echoing = new Set(["33", "84"]);

function command(code: string, serial: string, values: readonly string[], dialect: IwDialect): Command {
  const isEchoed = echoing.has(code) && values[0] !== undefined;
  const answer = (echo: string): Buffer => Buffer.from(`IWAP${code},${serial}${echo}#`, "latin1");
  return {
    kind: "command",
    word: code,
    values,
    acks: [answer(isEchoed ? `,${values[0]}` : "")],
    // Another value than the one it received is the only "no" that these watches know.
    refusals: isEchoed ? [answer(`,${values[0] === "1" ? "2" : "1"}`)] : [],
    effect: code === "40" ? { kind: "text", text: textOf(values[0] ?? "", dialect) } : effectOf(code, values),
  };
}

const textOf = (hex: string, dialect: IwDialect): string =>
  dialect === "B" ? new TextDecoder("gbk").decode(Buffer.from(hex, "hex")) : (readUtf16Hex(hex) ?? "");

const modeSeconds: Readonly<Record<string, number>> = { "1": 900, "2": 3600, "3": 60 };

function effectOf(code: string, values: readonly string[]): Effect | undefined {
  const number = (index: number): number => Number(values[index] ?? Number.NaN);
  const interval = (seconds: number | undefined): Effect | undefined =>
    seconds !== undefined && seconds >= 1 ? { kind: "interval", seconds } : undefined;
  switch (code) {
    case "15":
      return interval(number(0));
    case "16":
      return { kind: "locate" };
    case "17":
      return { kind: "factory_reset" };
    case "18":
      return { kind: "restart" };
    case "31":
      return { kind: "power_off" };
    case "33":
      return interval(values[0] === "8" ? number(1) : modeSeconds[values[0] ?? ""]);
    case "34":
      return interval(number(1));
    case "12":
      return { kind: "setting", name: "sos_numbers", values };
    case "14":
      return { kind: "setting", name: "contacts", values };
    case "20":
      return { kind: "setting", name: "timezone", values };
    case "76":
      return { kind: "setting", name: "fall_detection", values };
    case "77":
      return { kind: "setting", name: "fall_sensitivity", values };
    case "JZ":
      return { kind: "setting", name: "calibration", values };
    case "88":
      return { kind: "ring" };
    case "XL":
      return { kind: "measure", what: "pulse" };
    case "XY":
      return { kind: "measure", what: "pressure" };
    case "XZ":
    case "OX":
      return { kind: "measure", what: "oxygen" };
    case "XT":
    case "TE":
      return { kind: "measure", what: "temperature" };
    case "86":
      return { kind: "measure_every", what: "all", minutes: values[0] === "1" ? number(1) : 0 };
    case "87":
      return { kind: "measure_every", what: "temperature", minutes: values[0] === "1" ? number(1) : 0 };
    default:
      return undefined;
  }
}
