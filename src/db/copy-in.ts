import type { Client, Connection, QueryResult, Submittable } from "pg";
import { BinaryWriter } from "./binary-writer.ts";
import { sendGathered } from "./gathered-message.ts";
import { Pipeline } from "./pipeline.ts";
import type { PipelineStatement } from "./pipeline-part.ts";

/** The head of the message, with room for its length, and that of the data. */
const head = Buffer.from("d\0\0\0\0PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const firstBytes = 8192;

/** The rows of one COPY in binary form. Every row begins with `row()` and has all columns of the target. */
export class CopyRows {
  readonly #target: string;
  readonly #columns: number;
  readonly #firstBytes: number;
  #writer: BinaryWriter | undefined;
  count = 0;

  /** With the size where it is known to be large. */
  constructor(table: string, columns: readonly string[], bytes = 0) {
    this.#target = `${table} (${columns.join(", ")})`;
    this.#columns = columns.length;
    this.#firstBytes = Math.max(firstBytes, bytes);
  }

  row(): BinaryWriter {
    this.count++;
    this.#writer ??= new BinaryWriter(this.#firstBytes).raw(head);
    return this.#writer.rawInt16(this.#columns);
  }

  get statement(): string {
    return `copy ${this.#target} from stdin (format binary)`;
  }

  /** The message with all rows. None may follow. */
  message(): Buffer {
    if (!this.#writer) throw new Error(`no row to copy to ${this.#target}`);
    const bytes = this.#writer.rawInt16(-1).bytes();
    bytes.writeInt32BE(bytes.length - 1, 1);
    return bytes;
  }

  /** Once the server has taken all of it. */
  release(): void {
    this.#writer?.release();
    this.#writer = undefined;
  }
}

/**
 * Runs the COPYs and then the last statement as one message: a single round trip for all tables and the commit. The data is
 * sent ahead; a server that has met an error drops what it did not ask for, and does not reach the last statement.
 */
export function copyAnd(client: Client, copies: readonly CopyRows[], last: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyMessage(copies, last, undefined, (error) => (error ? reject(error) : resolve())));
  });
}

/**
 * Runs the COPYs and then named statements, of which the last may be the commit: all of it is sent at once, and the server reaches
 * a statement only when all before it have succeeded.
 */
export function copyAndRun(
  client: Client,
  copies: readonly CopyRows[],
  statements: readonly PipelineStatement[],
): Promise<QueryResult[]> {
  return new Promise((resolve, reject) => {
    const run = new Pipeline(client, statements, (error, results) => (error ? reject(error) : resolve(results)));
    // On their way before it is their turn.
    run.submit = (connection) => run.foreignTo(connection) ?? null;
    // When both fail, the first error says what is wrong.
    client.query(new CopyMessage(copies, "", run, (error) => error && reject(error)));
    client.query(run as unknown as Submittable);
  });
}

class CopyMessage implements Submittable {
  /** The name of its span. */
  readonly label: string;
  readonly #copies: readonly CopyRows[];
  readonly #last: string;
  readonly #next: Pipeline | undefined;
  readonly #done: (error: Error | undefined) => void;
  #error: Error | undefined;
  #sent: BinaryWriter | undefined;
  /** The client looks at it for a query timeout; none is set. */
  callback = (): void => undefined;

  constructor(
    copies: readonly CopyRows[],
    last: string,
    next: Pipeline | undefined,
    done: (error: Error | undefined) => void,
  ) {
    this.#copies = copies.filter(({ count }) => count > 0);
    this.#last = last;
    this.label = last.endsWith("commit") ? "COPY and COMMIT" : "COPY";
    this.#next = next;
    this.#done = done;
  }

  submit(connection: Connection): Error | null {
    const foreign = this.#next?.foreignTo(connection);
    if (foreign) return foreign;
    this.#sent = sendGathered(connection, (wire) => {
      wire.query([...this.#copies.map(({ statement }) => statement), this.#last].join("; "));
      for (const copy of this.#copies) {
        wire.stream.write(copy.message());
        wire.endCopyFrom();
      }
      this.#next?.writeTo(wire, connection);
    });
    return null;
  }

  handleCopyInResponse(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}

  /** After an error of the server the client waits for ReadyForQuery with no active query; after a lost connection nothing comes. */
  handleError(error: Error): void {
    this.#error = error;
    this.#finish();
  }

  handleReadyForQuery(): void {
    this.#sent?.release();
    for (const copy of this.#copies) copy.release();
    this.#finish();
  }

  #finish(): void {
    this.#done(this.#error);
  }
}
