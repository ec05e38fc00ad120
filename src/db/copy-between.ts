import type { Client, Connection, Submittable } from "pg";

/** What a COPY needs of a connection and the type declarations do not show. */
interface CopyConnection extends Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** The source waits while so much has not left for the target. */
const maxWaitingBytes = 1 << 20;

/**
 * Streams what one server copies out into what another copies in, with little of it in memory. Answers the number of rows, which
 * both servers must agree on. After a throw the transactions of both sides have failed.
 */
export async function copyBetween(source: Client, from: string, target: Client, to: string): Promise<number> {
  let into: CopyConnection | undefined;
  let written: Promise<number> | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    written = runCopy(target, to, {
      onReady: (connection) => {
        into = connection;
        resolve();
      },
    });
    written.catch(reject);
  });
  await ready;
  const sink = into as unknown as CopyConnection;
  let read: number;
  try {
    read = await runCopy(source, from, {
      onChunk: (chunk, connection) => {
        sink.sendCopyFromChunk(chunk);
        if (sink.stream.writableLength <= maxWaitingBytes) return;
        connection.stream.pause();
        sink.stream.once("drain", () => connection.stream.resume());
      },
    });
  } catch (error) {
    sink.sendCopyFail("the source failed");
    await written?.catch(() => undefined);
    throw error;
  }
  sink.endCopyFrom();
  const stored = await written;
  if (stored !== read) throw new Error(`copied ${read} rows out and ${stored} in: ${to}`);
  return read;
}

interface CopyHandlers {
  onReady?(connection: CopyConnection): void;
  onChunk?(chunk: Buffer, connection: CopyConnection): void;
}

function runCopy(client: Client, statement: string, handlers: CopyHandlers): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(new CopyStatement(statement, handlers, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

class CopyStatement implements Submittable {
  readonly #statement: string;
  readonly #handlers: CopyHandlers;
  readonly #done: (error: Error | undefined, rows: number) => void;
  #connection: CopyConnection | undefined;
  #rows = 0;
  #error: Error | undefined;
  /** The client looks at it for a query timeout; none is set. */
  callback = (): void => undefined;

  constructor(statement: string, handlers: CopyHandlers, done: (error: Error | undefined, rows: number) => void) {
    this.#statement = statement;
    this.#handlers = handlers;
    this.#done = done;
  }

  submit(connection: Connection): void {
    this.#connection = connection as CopyConnection;
    this.#connection.query(this.#statement);
  }

  handleCopyInResponse(connection: Connection): void {
    this.#handlers.onReady?.(connection as CopyConnection);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#handlers.onChunk?.(chunk, this.#connection as CopyConnection);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)/.exec(text)?.[1] ?? 0);
  }

  /** After an error of the server the client waits for ReadyForQuery with no active query; after a lost connection nothing comes. */
  handleError(error: Error): void {
    this.#error = error;
    this.#done(this.#error, 0);
  }

  handleReadyForQuery(): void {
    this.#done(this.#error, this.#rows);
  }
}
