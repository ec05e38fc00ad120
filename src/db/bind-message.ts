import { BinaryArray, BinaryWriter } from "./binary-writer.ts";

/** The head of the message, with room for its length, and the name of no portal. */
const head = Buffer.from("B\0\0\0\0\0", "latin1");

/**
 * The message that binds the values of a named statement, written in one piece. The driver would make a buffer of each array and
 * then copy them all into one that begins small.
 */
export function bindMessage(name: string, values: readonly unknown[]): BinaryWriter {
  const writer = new BinaryWriter(values.some(isBinaryArray) ? 8192 : 256).raw(head).piece(name).piece("\0");
  writer.rawInt16(values.length);
  for (const value of values) writer.rawInt16(isBinaryArray(value) || Buffer.isBuffer(value) ? 1 : 0);
  writer.rawInt16(values.length);
  for (const value of values) writeValue(writer, value);
  // One format for all columns of the answer: text.
  const bytes = writer.rawInt16(1).rawInt16(0).bytes();
  bytes.writeInt32BE(bytes.length - 1, 1);
  return writer;
}

const isBinaryArray = (value: unknown): value is BinaryArray => value instanceof BinaryArray;

function writeValue(writer: BinaryWriter, value: unknown): void {
  if (value === null || value === undefined) writer.null();
  else if (isBinaryArray(value)) writer.pieces(() => value.writeTo(writer));
  else if (Buffer.isBuffer(value)) writer.bytea(value);
  else if (Array.isArray(value)) writer.text(`{${value.map(elementOf).join(",")}}`);
  else writer.text(textOf(value));
}

function elementOf(value: unknown): string {
  return value === null || value === undefined ? "NULL" : `"${textOf(value).replace(/["\\]/g, "\\$&")}"`;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object" || typeof value === "symbol" || typeof value === "function")
    throw new TypeError(`a value of a statement cannot be a ${typeof value}`);
  return String(value);
}
