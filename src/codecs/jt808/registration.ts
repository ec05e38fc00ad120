import type { Session } from "../protocol-definition.ts";
import type { LoginProof, TrackerMessage } from "../tracker-message.ts";
import type { Envelope } from "./envelope.ts";
import { plainText } from "./report.ts";

export const REGISTER = 0x0100;
export const AUTHENTICATE = 0x0102;

/** What a first frame proves about its sender. */
export function proofOf(envelope: Envelope): LoginProof {
  if (envelope.messageId === REGISTER) return { kind: "registers" };
  return envelope.messageId === AUTHENTICATE ? { kind: "code", code: readCode(envelope).code } : { kind: "none" };
}

/** Since 2019 the code has a length before it and is followed by the IMEI and the software version. */
export function readCode({ address, body }: Envelope): { code: string; firmware: string } {
  if (address.version === undefined || body.length === 0) return { code: plainText(body), firmware: "" };
  const end = 1 + (body[0] as number);
  return { code: plainText(body.subarray(1, end)), firmware: plainText(body.subarray(end + 15)) };
}

/** The terminal gets its code, which is stored before the answer is written, and which it must know from then on. */
export function register(session: Session): { messages: TrackerMessage[]; code: string } {
  const code = session.device?.authentication?.code ?? session.device?.id ?? "";
  session.memory.set("registered", "1");
  return { messages: [{ kind: "authentication", code }], code };
}

/** A device that never registered here has nothing to prove: it brings the code of another server, or none. */
export function isRightCode(code: string, { device, memory }: Session): boolean {
  const isBound = memory.has("registered") || device?.authentication?.isStored === true;
  return !isBound || code === device?.authentication?.code;
}
