import type { QueryArrayConfig, QueryConfig } from "pg";
import { BinaryArray, BinaryWriter } from "./binary-writer.ts";

/** The head of the message, with room for its length, and the name of no portal. */
const head = Buffer.from("B\0\0\0\0\0", "latin1");

/**
 * The message that binds the values of a named statement, written in one piece. The driver would make a buffer of each array and
 * then copy them all into one that begins small. Undefined: the driver has to write it.
 */
export function bindMessage({ name, values }: QueryConfig | QueryArrayConfig): BinaryWriter | undefined {
  if (name === undefined || !values?.some((value) => value instanceof BinaryArray) || !values.every(isPlain))
    return undefined;
  const writer = new BinaryWriter(8192).raw(head).raw(Buffer.from(`${name}\0`));
  writer.rawInt16(values.length);
  for (const value of values) writer.rawInt16(value instanceof BinaryArray || Buffer.isBuffer(value) ? 1 : 0);
  writer.rawInt16(values.length);
  for (const value of values) writeValue(writer, value);
  // One format for all columns of the answer: text.
  const bytes = writer.rawInt16(1).rawInt16(0).bytes();
  bytes.writeInt32BE(bytes.length - 1, 1);
  return writer;
}

type Plain = BinaryArray | Buffer | string | number | null;

const isPlain = (value: unknown): value is Plain =>
  value === null ||
  typeof value === "string" ||
  typeof value === "number" ||
  value instanceof BinaryArray ||
  Buffer.isBuffer(value);

function writeValue(writer: BinaryWriter, value: Plain): void {
  if (value === null) writer.null();
  else if (value instanceof BinaryArray) writer.pieces(() => value.writeTo(writer));
  else if (Buffer.isBuffer(value)) writer.bytea(value);
  else writer.text(String(value));
}
