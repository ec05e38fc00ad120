import { MalformedFrame } from "../malformed-frame.ts";

/** Reads a frame from its beginning to its end. Every read throws MalformedFrame when the bytes end before it. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  i8(): number {
    return this.#bytes.readInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  i16(): number {
    return this.#bytes.readInt16BE(this.#take(2));
  }

  u24(): number {
    return this.#bytes.readUIntBE(this.#take(3), 3);
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#take(8));
  }

  i64(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  u16le(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  i16le(): number {
    return this.#bytes.readInt16LE(this.#take(2));
  }

  u32le(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  i32le(): number {
    return this.#bytes.readInt32LE(this.#take(4));
  }

  /** A view of the frame, not a copy. */
  bytes(count: number): Buffer {
    const start = this.#take(count);
    return this.#bytes.subarray(start, start + count);
  }

  rest(): Buffer {
    return this.bytes(this.remaining);
  }

  skip(count: number): void {
    this.#take(count);
  }

  text(count: number, encoding: BufferEncoding = "latin1"): string {
    return this.bytes(count).toString(encoding);
  }

  hex(count: number): string {
    return this.text(count, "hex");
  }

  #take(count: number): number {
    const start = this.#at;
    if (!(count >= 0 && count <= this.remaining)) throw new MalformedFrame("frame ends too early");
    this.#at += count;
    return start;
  }
}
