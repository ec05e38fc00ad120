import { type Downlink, type SessionDevice, UnsupportedDownlink } from "../protocol-definition.ts";
import { utf16BeHex } from "../wire/utf16-text.ts";
import { commandContents } from "./commands.ts";
import { joinContent, maxContentBytes, writeFrame } from "./envelope.ts";
import { makerOf, type WatchSession, type WatchTraits } from "./traits.ts";

/** There are no serials: the device answers with the word, so one command of a kind can wait at a time. */
export function encodeDownlink(downlink: Downlink, session: WatchSession): Buffer[] {
  const { device } = session;
  if (device === undefined) throw new UnsupportedDownlink("nobody has logged in");
  const maker = makerOf(session);
  // Makers that count their own frames want a counter in ours, and accept a constant one.
  const index = session.memory.has("index") ? "0001" : undefined;
  return contentsOf(downlink, device, session.nowMs).map((content) => {
    if (content.length > maxContentBytes) throw new UnsupportedDownlink("longer than a frame of the watch can be");
    return writeFrame({ maker, id: device.id, index, content });
  });
}

function contentsOf(downlink: Downlink, device: SessionDevice<WatchTraits>, nowMs: number): Buffer[] {
  switch (downlink.kind) {
    case "command":
      return commandContents(downlink.type, downlink.params, { device, nowMs });
    case "text":
      return [joinContent("MESSAGE", [utf16BeHex(downlink.text)])];
    case "voice_part":
      if (downlink.total !== 1) throw new UnsupportedDownlink("a recording goes to the watch in one piece");
      return [joinContent("TK", [downlink.bytes])];
    case "clock":
      // The watch asks nobody for the time.
      return [];
  }
}
