import { createHmac, timingSafeEqual } from "node:crypto";

/** Time-based one-time passwords (RFC 6238) as every authenticator app makes them: SHA-1, six digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function base32(bytes: Buffer): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}

export const stepAt = (nowMs: number): number => Math.floor(nowMs / stepMs);

export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) as number) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, "0");
}

/** The step of the code, one step of clock difference forgiven on each side; undefined when it is not right or was used. */
export function acceptedStep(secret: Buffer, code: string, nowMs: number, lastStep: number): number | undefined {
  const given = Buffer.from(code.replaceAll(" ", ""));
  const now = stepAt(nowMs);
  return [now - 1, now, now + 1].find((step) => {
    const expected = Buffer.from(codeAt(secret, step));
    return step > lastStep && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

export const otpauthUrl = (secret: Buffer, email: string): string =>
  `otpauth://totp/${encodeURIComponent(`Vigil:${email}`)}?${new URLSearchParams({ secret: base32(secret), issuer: "Vigil" })}`;
