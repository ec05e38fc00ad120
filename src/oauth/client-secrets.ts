import { hash } from "node:crypto";
import { randomToken } from "../lib/ids.ts";

/** How long a rotated secret is still accepted beside the new one (decisions 18.1 and 19.4). */
export const secretOverlapMs = 24 * 3_600_000;

export const newClientId = (): string => `vc_${randomToken(18)}`;
export const newClientSecret = (): string => `vs_${randomToken(32)}`;

/** Only this is stored. The secrets are long and random, so a plain hash is enough; a slow one would only slow the token endpoint. */
export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");
