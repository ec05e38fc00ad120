import { MalformedFrame } from "../malformed-frame.ts";

/** Length (of key and value), key, value. */
export interface Item {
  key: number;
  value: Buffer;
}

/** A length of zero takes all that is left. What is cut short at the end of a frame is left out. */
export function readItems(bytes: Buffer): Item[] {
  const items: Item[] = [];
  for (let at = 0; at + 1 < bytes.length; ) {
    const length = bytes[at] as number;
    const end = length === 0 ? bytes.length : at + 1 + length;
    if (end > bytes.length) break;
    items.push({ key: bytes[at + 1] as number, value: bytes.subarray(at + 2, end) });
    at = end;
  }
  return items;
}

export function writeItem(key: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([value.length + 1, key]), value]);
}

/**
 * An item that is shorter than the papers say is left out, and the rest of the frame is kept: the checksum was right, so the
 * device would send the same again.
 */
export function readTolerantly(items: readonly Item[], read: (item: Item) => void): void {
  for (const item of items) {
    try {
      read(item);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
    }
  }
}

/** The id stands first in every frame of data or services, and as key 03 in a configuration. */
export function idOf(items: readonly Item[], key: number): string | undefined {
  const id = items
    .find((item) => item.key === key)
    ?.value.toString("latin1")
    .trim();
  return id !== undefined && /^[\x21-\x7e]{1,32}$/.test(id) ? id : undefined;
}

/** Text to keep: UTF-8, without control characters. */
export const textOf = (bytes: Buffer): string =>
  bytes
    .toString("utf8")
    .replace(/[\x00-\x1f\x7f]/g, "")
    .trim()
    .slice(0, 100);
