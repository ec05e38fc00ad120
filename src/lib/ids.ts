import { randomBytes, randomFillSync, randomInt, randomUUID } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IMEI = /^\d{15}$/;

export const isUuid = (text: string): boolean => UUID.test(text);
export const isImei = (text: string): boolean => IMEI.test(text);

export const newUuid = (): string => randomUUID();

/** URL-safe random text of the given number of bytes; the alphabet is [A-Za-z0-9_-]. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString("base64url");

/**
 * A UUIDv7 (RFC 9562) of the given time. Unordered within one millisecond; logs that need an order assign ids under a lock.
 * The random part is that of a version 4 id, which Node makes from a pool: ten times cheaper than sixteen fresh bytes.
 */
export function uuidV7(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Makes one for each call of the API: of the ids of one millisecond the time is written once. */
export function makeUuidV7Texts(): (nowMs: number) => string {
  let timeMs = Number.NaN;
  let prefix = "";
  return (nowMs) => {
    if (nowMs !== timeMs) {
      timeMs = nowMs;
      prefix = uuidV7(nowMs).slice(0, 15);
    }
    return prefix + randomUUID().slice(15);
  };
}

/**
 * Makes many, as their 16 bytes for binary writes: one call of the random generator for all of a pool, which otherwise costs more
 * than all else in an id. The pool is small, because an id that is kept keeps it. Of ids of one millisecond the later made is the
 * greater: lists and merges read rows of one time in the order in which they came. The counter goes on whatever the time, because
 * batches go back and forth between milliseconds.
 */
export function makeUuidV7Source(poolSize = 64): (nowMs: number) => Buffer {
  let pool = Buffer.alloc(0);
  let at = 0;
  let count = randomInt(counterValues / 2);
  return (nowMs) => {
    if (at >= pool.length) {
      pool = randomFillSync(Buffer.allocUnsafeSlow(16 * poolSize));
      at = 0;
    }
    count = (count + 1) % counterValues;
    writeUuidV7(pool, at, nowMs, count);
    at += 16;
    return pool.subarray(at - 16, at);
  };
}

const counterValues = 2 ** 30;

/** Time, 30 bits of the counter around version and variant, and 44 random bits. */
function writeUuidV7(bytes: Buffer, at: number, nowMs: number, count: number): void {
  const high = Math.floor(nowMs / 0x1_0000);
  bytes.writeUInt32BE(high, at);
  bytes.writeUInt16BE(nowMs - high * 0x1_0000, at + 4);
  bytes[at + 6] = 0x70 | (count >>> 26);
  bytes[at + 7] = (count >>> 18) & 0xff;
  bytes[at + 8] = 0x80 | ((count >>> 12) & 0x3f);
  bytes[at + 9] = (count >>> 4) & 0xff;
  bytes[at + 10] = ((count & 0x0f) << 4) | ((bytes[at + 10] as number) & 0x0f);
}

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");

/**
 * The bytes of ids that are kept for long, packed in pages of their own: in the pool that all small buffers share, each would
 * keep what was beside it in memory.
 */
export class PackedIds {
  #page = Buffer.alloc(0);

  bytesOf(uuid: string): Buffer {
    if (this.#page.length === 0) this.#page = Buffer.allocUnsafeSlow(pageIds * 16);
    const bytes = this.#page.subarray(0, 16);
    this.#page = this.#page.subarray(16);
    bytes.write(uuid.replaceAll("-", ""), "hex");
    return bytes;
  }
}

const pageIds = 128;

/** The lowest UUIDv7 of a millisecond: the bound of a partition or of a retention window. */
export function uuidV7Floor(timeMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(timeMs, 0, 6);
  bytes[6] = 0x70;
  bytes[8] = 0x80;
  return formatUuid(bytes);
}

export function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
