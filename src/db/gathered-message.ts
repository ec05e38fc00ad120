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
  const { wire, pieces } = gatheringOf(connection);
  stream.cork();
  try {
    pieces.begin(stream);
    write(wire);
    return pieces.end();
  } finally {
    stream.uncork();
  }
}

/** What the connection takes for its socket while a message is written. */
class Pieces {
  #stream: Connection["stream"] | undefined;
  #writer = new BinaryWriter(0);
  #sent = 0;

  begin(stream: Connection["stream"]): void {
    this.#stream = stream;
    this.#writer = new BinaryWriter(65536);
    this.#sent = 0;
  }

  get writable(): boolean {
    return this.#stream?.writable === true;
  }

  write(bytes: Buffer): boolean {
    if (bytes.length < directBytes) this.#writer.raw(bytes);
    else {
      this.#flush();
      this.#stream?.write(bytes);
    }
    return true;
  }

  end(): BinaryWriter {
    this.#flush();
    return this.#writer;
  }

  #flush(): void {
    if (this.#writer.length > this.#sent) this.#stream?.write(this.#writer.bytes().subarray(this.#sent));
    this.#sent = this.#writer.length;
  }
}

const gatherings = new WeakMap<Connection, { wire: Wire; pieces: Pieces }>();

/** Made once for a connection: an object with another one as its prototype is dear to make. */
function gatheringOf(connection: Connection): { wire: Wire; pieces: Pieces } {
  const known = gatherings.get(connection);
  if (known) return known;
  const pieces = new Pieces();
  const made = { wire: Object.create(connection, { stream: { value: pieces } }) as Wire, pieces };
  gatherings.set(connection, made);
  return made;
}
