import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { deviceTimeOf, type Packet } from "./packet.ts";

/** What writes next to nothing. */
const lightKinds: ReadonlySet<TrackerMessage["kind"]> = new Set([
  "login",
  "heartbeat",
  "info",
  "command_answer",
  "message_answer",
]);
const partKinds: ReadonlySet<TrackerMessage["kind"]> = new Set(["text", "voice_part", "ecg_part"]);
const signOfLife: TrackerMessage = { kind: "heartbeat" };

/**
 * What is taken of a packet while there is hardly any room: alarms as they came, log-ins, answers and signs of life.
 * Undefined: the device keeps the packet and sends it again later, because it is not answered.
 */
export function alarmsOnly(packet: Packet): Packet | undefined {
  const { frame } = packet;
  const { messages } = frame;
  if (messages.some(({ kind }) => kind === "alarm" || kind === "login")) return packet;
  if (messages.every(({ kind }) => lightKinds.has(kind))) return packet;
  // A report without a time is not kept by its device: only that the device is there can be saved of it.
  const isPart = messages.some(({ kind }) => partKinds.has(kind));
  if (isPart || deviceTimeOf(frame) !== null) return undefined;
  return { ...packet, frame: { messages: [signOfLife], replies: frame.replies, raw: frame.raw } };
}
