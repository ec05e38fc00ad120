import { createHmac } from "node:crypto";

export interface SigningSecrets {
  current: string;
  /** The secret before the last rotation, while both are valid. */
  previous: string | null;
}

const secretPrefix = "whsec_";

/** Key: all bytes of the secret text, prefix included; message: the body. */
const bodySignature = (secret: string, body: Buffer): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Standard Webhooks 1.0. Key: the decoded part after the prefix. */
function standardSignature(secret: string, head: string, body: Buffer): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`;
}

/** The headers that authenticate one attempt (section 19.4). During a rotation both secrets sign, the new one first. */
export function signatureHeaders(
  secrets: SigningSecrets,
  eventId: string,
  timestampS: number,
  body: Buffer,
): Record<string, string> {
  const { current, previous } = secrets;
  const head = `${eventId}.${timestampS}.`;
  const standard = standardSignature(current, head, body);
  const headers: Record<string, string> = {
    "X-Signature": bodySignature(current, body),
    "webhook-id": eventId,
    "webhook-timestamp": String(timestampS),
    "webhook-signature": previous === null ? standard : `${standard} ${standardSignature(previous, head, body)}`,
  };
  if (previous !== null) headers["X-Signature-Previous"] = bodySignature(previous, body);
  return headers;
}

export interface SignedEvent {
  id: string;
  type: string;
  body: Buffer;
}

/** All headers of one attempt. */
export const webhookHeaders = (
  event: SignedEvent,
  attempt: number,
  secrets: SigningSecrets,
  nowMs: number,
): Record<string, string> => ({
  "Content-Type": "application/json",
  "User-Agent": "Vigil-Webhooks/1",
  "Idempotency-Key": event.id,
  "X-Event-Type": event.type,
  "X-Delivery-Attempt": String(attempt),
  ...signatureHeaders(secrets, event.id, Math.floor(nowMs / 1000), event.body),
});
