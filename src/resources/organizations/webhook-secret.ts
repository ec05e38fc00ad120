import { randomBytes } from "node:crypto";

/** The form of decisions 19.4 and of Standard Webhooks: the part after the prefix is the key in base64. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;
