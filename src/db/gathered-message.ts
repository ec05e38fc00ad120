import type { Client, Connection, Submittable } from "pg";
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

/** A message of our own to the server, up to the one ReadyForQuery that answers it. */
export interface OwnMessage {
  /** The name of its span. */
  readonly label: string;
  /** Why it cannot be sent. */
  foreignTo(connection: Connection): Error | undefined;
  /** `connection`: the one itself, which knows its statements. */
  writeTo(wire: Wire, connection: Connection): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

/** Sends all messages at once when it is the turn of the first; each is answered by itself, in this order. */
export function sendTogether(client: Client, messages: readonly OwnMessage[]): void {
  const last = messages.at(-1);
  let foreign: Error | undefined;
  for (const message of messages) {
    const submit = (connection: Connection): Error | null => {
      if (message !== messages[0]) return foreign ?? null;
      foreign = messages.map((one) => one.foreignTo(connection)).find((error) => error !== undefined);
      if (foreign || !last) return foreign ?? null;
      const sent = sendGathered(connection, (wire) => {
        for (const one of messages) one.writeTo(wire, connection);
      });
      // Not at the answer to the first one: what follows it may still be on its way to the kernel.
      const onReady = last.handleReadyForQuery.bind(last);
      last.handleReadyForQuery = () => {
        sent.release();
        onReady();
      };
      return null;
    };
    client.query(Object.assign(message, { submit }) as unknown as Submittable);
  }
}

/**
 * Sends all that `write` says to the connection it is given, in one piece. The driver would hand over each of its messages by itself,
 * three or four for every statement, and each piece costs the kernel and Node as much as the small message itself. What it returns is
 * to be released when the server has answered.
 */
export function sendGathered(connection: Connection, write: (gathered: Wire) => void): BinaryWriter {
  const { stream } = connection;
  const writer = new BinaryWriter(65536);
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
