import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";
import { crc16Arc } from "../wire/crc16.ts";

const texts: Readonly<Record<string, string>> = {
  // Answered with a text, and with a record of its own.
  locate_now: "getrecord",
  restart: "cpureset",
};

/** Commands are texts in codec 12. Answers name no command, so one is in progress at a time. */
export function encodeDownlink(downlink: Downlink): Buffer[] {
  // The device has the time from the satellites.
  if (downlink.kind === "clock") return [];
  if (downlink.kind !== "command") throw new UnsupportedDownlink("trackers take no messages");
  const text = Object.hasOwn(texts, downlink.type) ? texts[downlink.type] : undefined;
  if (text === undefined) throw new UnsupportedDownlink(`trackers know no ${downlink.type}`);
  return [textFrame(text)];
}

/** Four zero bytes, length, codec 12, one text of kind 5 with its length, one, checksum. */
export function textFrame(text: string): Buffer {
  const content = Buffer.concat([Buffer.of(0x0c, 1, 5), u32(text.length), Buffer.from(text, "latin1"), Buffer.of(1)]);
  return Buffer.concat([u32(0), u32(content.length), content, u32(crc16Arc(content))]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
