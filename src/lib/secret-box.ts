import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/**
 * Seals secrets that must be read back, so that a copy of the database alone does not tell them. A sealed text names the key it
 * was sealed with by a fingerprint, which makes a wrong key an error that says what is wrong.
 */
export interface SecretBox {
  readonly fingerprint: string;
  seal(secret: string): string;
  /** Text that was stored before secrets were sealed is returned as it is. Throws WrongKey. */
  open(sealed: string): string;
}

export class WrongKey extends Error {
  readonly fingerprint: string;

  constructor(fingerprint: string) {
    super(`a secret was sealed with the key ${fingerprint}, which is not the configured one`);
    this.fingerprint = fingerprint;
  }
}

const version = "sealed1";
const keyBytes = 32;

export const newSecretKey = (): Buffer => randomBytes(keyBytes);
export const isSealed = (text: string): boolean => text.startsWith(`${version}.`);
export const fingerprintOf = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 16);

export function makeSecretBox(key: Buffer): SecretBox {
  if (key.length !== keyBytes) throw new Error(`a secret key has ${keyBytes} bytes`);
  const fingerprint = fingerprintOf(key);
  return {
    fingerprint,
    seal(secret) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return [version, fingerprint, Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")].join(".");
    },
    open(sealed) {
      if (!isSealed(sealed)) return sealed;
      const [, by = "", text = ""] = sealed.split(".");
      if (by !== fingerprint) throw new WrongKey(by);
      const bytes = Buffer.from(text, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
    },
  };
}
