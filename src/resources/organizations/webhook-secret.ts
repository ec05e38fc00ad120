import { randomBytes } from "node:crypto";

/** The form of decisions 19.4 and of Standard Webhooks: the part after the prefix is the key in base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Standard Webhooks: keys of 24 to 64 bytes. */
export function isWebhookSecret(text: string): boolean {
  const [, key = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(key, "base64").length;
  return bytes >= 24 && bytes <= 64;
}
