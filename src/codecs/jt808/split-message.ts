import { MalformedFrame } from "../malformed-frame.ts";
import type { Session } from "../protocol-definition.ts";
import type { Envelope } from "./envelope.ts";

/** Parts of one message that a connection may hold: about 64 KB. */
export const maxParts = 64;

export interface WholeMessage {
  body: Buffer;
  /** Of every part, in their order: each is answered, once the whole is stored. */
  serials: number[];
}

/**
 * Collects the parts of a split message, in any order; undefined while some are missing. A connection holds the parts of one
 * message: those of the next one take their place.
 */
export function joinParts(envelope: Envelope, { memory }: Pick<Session, "memory">): WholeMessage | undefined {
  const { part, messageId, serial, body } = envelope;
  if (part === undefined) return { body, serials: [serial] };
  const { total, index } = part;
  if (total > maxParts || index < 1 || index > total) throw new MalformedFrame("part of a message that is too long");
  const first = (serial - index + 1) & 0xffff;
  const name = `${messageId}/${first}/${total}`;
  if (memory.get("split") !== name) forgetParts(memory);
  memory.set("split", name);
  memory.set(`split/${index}`, body.toString("hex"));
  const bodies = Array.from({ length: total }, (_, at) => memory.get(`split/${at + 1}`));
  if (bodies.includes(undefined)) return undefined;
  forgetParts(memory);
  return {
    body: Buffer.from(bodies.join(""), "hex"),
    serials: bodies.map((_, at) => (first + at) & 0xffff),
  };
}

function forgetParts(memory: Session["memory"]): void {
  for (const key of [...memory.keys()]) if (key.startsWith("split")) memory.delete(key);
}
