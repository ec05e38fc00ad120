import { MalformedFrame } from "../malformed-frame.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { readUtf16Hex } from "../wire/utf16-text.ts";
import { type IwSession, vitals, wholeNumberOf } from "./fields.ts";
import { dialTimeOf } from "./time.ts";

/** Parts of voice and pictures: AP07, AP42 and IWnull, all with the header time, total, sequence, length. */
export interface MediaFrame {
  code: string;
  time: string;
  total: string;
  sequence: string;
  data: Buffer;
}

interface MediaForm {
  kind: "voice" | "picture";
  isHex: boolean;
}

/** The first bytes tell what a file is, whatever the code of the frame. */
const MAGIC: readonly (MediaForm & { start: Buffer })[] = [
  { kind: "voice", isHex: false, start: Buffer.from("#!AMR") },
  { kind: "voice", isHex: true, start: Buffer.from("2321414d52") },
  { kind: "picture", isHex: false, start: Buffer.from("ffd8ff", "hex") },
  { kind: "picture", isHex: true, start: Buffer.from("ffd8ff") },
];

export function readMediaHeader(header: string, data: Buffer): MediaFrame {
  const [code = "", time = "", total = "", sequence = ""] = header.split(",");
  // The header is repeated in the answer.
  if (!/^[\d :-]{1,20}$/.test(time)) throw new MalformedFrame("bad media time");
  if (data.length === 0) throw new MalformedFrame("empty media part");
  return { code, time, total, sequence, data };
}

/** The watch sends its next part only after these five fields. BP07 it is for pictures too: BP42 is ignored. */
export function mediaReply({ time, total, sequence }: MediaFrame, isTaken: boolean): Buffer {
  return Buffer.from(`IWBP07,${time},${total},${sequence},${isTaken ? 1 : 0}#`, "latin1");
}

export function readMedia(frame: MediaFrame, session: IwSession): TrackerMessage[] {
  const [total, sequence] = [wholeNumberOf(frame.total), wholeNumberOf(frame.sequence)];
  const deviceTimeMs = dialTimeOf(frame.time, session);
  if (total === 0) {
    const text = readUtf16Hex(frame.data.toString("latin1"));
    if (text === undefined) throw new MalformedFrame("bad text");
    return [{ kind: "text", deviceTimeMs, text }];
  }
  if (sequence < 1 || sequence > total) throw new MalformedFrame("bad media sequence");
  const form = formOf(frame, sequence, session);
  const bytes = form.isHex ? bytesOf(frame.data) : frame.data;
  if (form.kind === "picture") return [vitals(deviceTimeMs, {}, { picture_bytes: bytes.length })];
  return [{ kind: "voice_part", deviceTimeMs, transfer: frame.time, total, sequence, bytes: Buffer.from(bytes) }];
}

/** Only the first part shows the form of a file; the connection keeps it for the others. */
function formOf(frame: MediaFrame, sequence: number, session: IwSession): MediaForm {
  if (sequence > 1) {
    const [time, kind, digits] = session.memory.get("iw.media")?.split("|") ?? [];
    if (time === frame.time) return { kind: kind === "voice" ? "voice" : "picture", isHex: digits === "hex" };
  }
  const lower = Buffer.from(frame.data.toString("latin1", 0, 16).toLowerCase(), "latin1");
  const known = MAGIC.find(({ start, isHex }) => (isHex ? lower : frame.data).subarray(0, start.length).equals(start));
  const form: MediaForm = known ?? { kind: frame.code === "AP07" ? "voice" : "picture", isHex: isHexText(frame.data) };
  if (sequence === 1) session.memory.set("iw.media", `${frame.time}|${form.kind}|${form.isHex ? "hex" : "raw"}`);
  return form;
}

function isHexText(data: Buffer): boolean {
  return /^(?:[0-9a-f]{2})+$/i.test(data.toString("latin1"));
}

function bytesOf(data: Buffer): Buffer {
  if (!isHexText(data)) throw new MalformedFrame("bad media hex");
  return Buffer.from(data.toString("latin1"), "hex");
}
