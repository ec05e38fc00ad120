import type { Connection } from "pg";
import { BinaryWriter } from "./binary-writer.ts";

/** What is larger goes out as it is: one more piece costs less than a copy. */
const directBytes = 32 * 1024;

/** Messages of the protocol as the connection of the driver writes them; the type declarations show only some. */
export interface Wire extends Connection {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  query(text: string): void;
  parse(statement: { name: string; text: string }): void;
  describe(what: { type: "P"; name: string }): void;
  execute(what: Record<string, never>): void;
  endCopyFrom(): void;
  sync(): void;
}

/**
 * Sends all that `write` says to the connection it is given, in one piece. The driver would hand over each of its messages by itself,
 * three or four for every statement, and each piece costs the kernel and Node as much as the small message itself. What it returns is
 * to be released when the server has answered.
 */
export function sendGathered(connection: Connection, write: (gathered: Wire) => void): BinaryWriter {
  const { stream } = connection;
  const writer = new BinaryWriter(8192);
  let sent = 0;
  const flush = (): void => {
    if (writer.length > sent) stream.write(writer.bytes().subarray(sent));
    sent = writer.length;
  };
  const pieces = {
    writable: stream.writable,
    write: (bytes: Buffer) => {
      if (bytes.length < directBytes) writer.raw(bytes);
      else {
        flush();
        stream.write(bytes);
      }
      return true;
    },
  };
  stream.cork();
  try {
    write(Object.create(connection, { stream: { value: pieces } }) as Wire);
    flush();
  } finally {
    stream.uncork();
  }
  return writer;
}
