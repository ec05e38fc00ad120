/** Numbers with the low byte first, one after the other. */
export class Bytes {
  readonly #parts: Buffer[] = [];

  u8(value: number): this {
    return this.#add(1, (part) => part.writeUInt8(value & 0xff));
  }

  i8(value: number): this {
    return this.#add(1, (part) => part.writeInt8(Math.max(-128, Math.min(127, Math.round(value)))));
  }

  u16(value: number): this {
    return this.#add(2, (part) => part.writeUInt16LE(value & 0xffff));
  }

  i16(value: number): this {
    return this.#add(2, (part) => part.writeInt16LE(Math.round(value)));
  }

  u32(value: number): this {
    return this.#add(4, (part) => part.writeUInt32LE(value >>> 0));
  }

  i32(value: number): this {
    return this.#add(4, (part) => part.writeInt32LE(value));
  }

  f32(value: number): this {
    return this.#add(4, (part) => part.writeFloatLE(value));
  }

  raw(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }

  done(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #add(length: number, write: (part: Buffer) => void): this {
    const part = Buffer.alloc(length);
    write(part);
    this.#parts.push(part);
    return this;
  }
}
