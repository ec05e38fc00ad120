import { type Downlink, type SessionDevice, UnsupportedDownlink } from "../protocol-definition.ts";
import { nameHex, type Utf16, utf16BeHex } from "../wire/utf16-text.ts";
import { wireCommands } from "./commands.ts";
import { type Dialect, dialectOf, type IwSession, prefixOf } from "./fields.ts";
import type { IwTraits } from "./traits.ts";

interface Target {
  device: SessionDevice<IwTraits>;
  prefix: string;
  dialect: Dialect;
  nameEncoding: Utf16;
}

type Text = Extract<Downlink, { kind: "text" }>;
type VoicePart = Extract<Downlink, { kind: "voice_part" }>;

/** Frames for a device that has logged in. */
export function makeEncoder(toGb: (text: string) => Buffer): (downlink: Downlink, session: IwSession) => Buffer[] {
  return (downlink, session) => {
    const target = targetOf(session);
    switch (downlink.kind) {
      case "clock":
        return [clock(target, session.nowMs)];
      case "text":
        return [text(target, downlink, toGb)];
      case "voice_part":
        return [voicePart(target, downlink)];
      case "command": {
        const { type, params, serial } = downlink;
        if (type === "send_message") {
          const senderName = typeof params.sender_name === "string" ? params.sender_name : "";
          return [text(target, { kind: "text", text: String(params.text ?? ""), senderName, serial }, toGb)];
        }
        return wireCommands(type, params, { ...target, session }).map(([code, ...fields]) =>
          textFrame(target, code, [target.device.imei, serial, ...fields]),
        );
      }
    }
  };
}

function targetOf(session: IwSession): Target {
  const { device } = session;
  if (!device) throw new UnsupportedDownlink("Nothing can be sent before a login");
  return {
    device,
    prefix: prefixOf(session),
    dialect: dialectOf(session),
    nameEncoding: device.traits.name_encoding ?? "utf-16be",
  };
}

function textFrame({ prefix }: Target, code: string, fields: readonly (string | number)[]): Buffer {
  const parts = fields.map(String);
  // A comma or a hash inside a field would be another frame to the watch.
  if (parts.some((part) => /[^\x20-\x7e]|[,#]/.test(part))) throw new UnsupportedDownlink("A field cannot be sent");
  return Buffer.from(`${[prefix + code, ...parts].join(",")}#`, "latin1");
}

/** BP00: the answer to a login, which may also be sent unasked. UTC, and the zone in whole hours. */
function clock(target: Target, nowMs: number): Buffer {
  // TRV units want the bare answer.
  if (target.prefix === "TRV") return textFrame(target, "BP00", []);
  const time = new Date(nowMs).toISOString().replace(/\D/g, "").slice(0, 14);
  return textFrame(target, "BP00", [time, Math.trunc(target.device.utcOffsetMinutes / 60)]);
}

/** BP40; kids' watches (dialect C) take texts as voice parts without a number. */
function text(target: Target, { text, senderName, serial }: Text, toGb: (text: string) => Buffer): Buffer {
  if (target.dialect === "C") {
    const hex = utf16BeHex(text);
    return textFrame(target, "BP28", [nameHex(senderName, target.nameEncoding), serial, 0, 0, hex.length, hex]);
  }
  const isGb = target.device.traits.text_encoding === "gb2312";
  const hex = isGb ? toGb(text).toString("hex").toUpperCase() : utf16BeHex(text);
  return textFrame(target, "BP40", [target.device.imei, serial, hex]);
}

/** BP28: raw bytes after the header. The watch repeats the second field in its answer, so it holds the serial. */
function voicePart(target: Target, { senderName, serial, total, sequence, bytes }: VoicePart): Buffer {
  const name = nameHex(senderName, target.nameEncoding);
  const header = `${target.prefix}BP28,${name},${serial},${total},${sequence},${bytes.length},`;
  return Buffer.concat([Buffer.from(header, "latin1"), bytes, Buffer.from("#")]);
}
