import { type Downlink, type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import { commandMessage, textMessage } from "./commands.ts";
import { addressOf, writeFrame } from "./envelope.ts";
import type { Jt808Traits } from "./traits.ts";

/** Frames look like those of the terminal; the serial is the one that its answer repeats. */
export function encodeDownlink(downlink: Downlink, session: Session<Jt808Traits>): Buffer[] {
  // The terminal asks for the time itself.
  if (downlink.kind === "clock") return [];
  if (downlink.kind === "voice_part") throw new UnsupportedDownlink("terminals take no recordings");
  const address = addressOf(session);
  if (address === undefined) throw new UnsupportedDownlink("the form of the terminal's frames is not known yet");
  const is2019 = address.version !== undefined;
  const { id, body } =
    downlink.kind === "text"
      ? textMessage(downlink.text, is2019)
      : commandMessage(downlink.type, downlink.params, is2019);
  return [writeFrame(address, id, Number(downlink.serial), body)];
}
