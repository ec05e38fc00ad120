import { createHmac, timingSafeEqual } from "node:crypto";
import { VigilError } from "./errors.ts";
import type { OutboundEvent } from "./schemas.ts";

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type WebhookRefusal = "missing_signature" | "wrong_signature" | "outside_tolerance" | "unreadable_body";

/** The request does not come from the service, is too old, or is not an event. Answer 401 and drop it. */
export class WebhookVerificationError extends VigilError {
  override name = "WebhookVerificationError";
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface VerifyOptions {
  /** How far the time of the request may be from now. Default: 300 seconds. */
  toleranceSeconds?: number | undefined;
  /** For tests. */
  nowMs?: number | undefined;
}

const defaultToleranceSeconds = 300;
const secretPrefix = "whsec_";

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === "string" ? value : value?.join(" ");
}

function isSigned(secret: string, head: string, body: Uint8Array, given: string): boolean {
  const key = Buffer.from(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret, "base64");
  const expected = Buffer.from(createHmac("sha256", key).update(head).update(body).digest("base64"));
  // No early end: the time must not tell which signature was nearly right.
  let isEqual = false;
  for (const one of given.split(" ")) {
    const [version, value = ""] = one.split(",");
    const bytes = Buffer.from(value);
    if (version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected)) isEqual = true;
  }
  return isEqual;
}

/**
 * Returns the event of a webhook request, or throws WebhookVerificationError. `rawBody` must be the bytes as they arrived: parsed
 * and written again they have another signature. Checks `webhook-signature`, which covers id and time as well as the body, so
 * that a recorded request cannot be sent again later. Give several secrets while one is being rotated.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = defaultToleranceSeconds, nowMs = Date.now() }: VerifyOptions = {},
): OutboundEvent {
  const known = (typeof secrets === "string" ? [secrets] : secrets).filter((secret) => secret !== "");
  if (known.length === 0) throw new TypeError("verifyWebhook needs a secret.");
  const body = typeof rawBody === "string" ? new TextEncoder().encode(rawBody) : rawBody;
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signature = headerOf(headers, "webhook-signature");
  if (!id || !timestamp || !signature) {
    throw new WebhookVerificationError("missing_signature", "The request has no webhook signature.");
  }
  const head = `${id}.${timestamp}.`;
  if (!known.some((secret) => isSigned(secret, head, body, signature))) {
    throw new WebhookVerificationError("wrong_signature", "The signature does not fit the body and the secrets.");
  }
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(nowMs / 1000 - seconds) <= toleranceSeconds)) {
    throw new WebhookVerificationError("outside_tolerance", "The request was signed too long ago.");
  }
  return readEvent(body, id);
}

function readEvent(body: Uint8Array, id: string): OutboundEvent {
  let event: OutboundEvent;
  try {
    event = JSON.parse(new TextDecoder().decode(body)) as OutboundEvent;
  } catch {
    throw new WebhookVerificationError("unreadable_body", "The body is not JSON.");
  }
  if (event?.id !== id)
    throw new WebhookVerificationError("unreadable_body", "The body is not the event of the headers.");
  return event;
}
