import type { Client, QueryResult } from "pg";
import { BinaryWriter } from "./binary-writer.ts";
import { type OwnMessage, sendTogether, type Wire } from "./gathered-message.ts";
import { Pipeline } from "./pipeline.ts";
import type { PipelineStatement } from "./pipeline-part.ts";

/** The head of the message, with room for its length, and that of the data. */
const head = Buffer.from("d\0\0\0\0PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const firstBytes = 8192;

/** Where rows are copied to. Made once and not for each batch: small ones are many. */
export interface CopyTarget {
  readonly table: string;
  readonly columns: number;
  readonly statement: string;
}

export const copyTarget = (table: string, columns: readonly string[]): CopyTarget => ({
  table,
  columns: columns.length,
  statement: `copy ${table} (${columns.join(", ")}) from stdin (format binary)`,
});

/** The rows of one COPY in binary form. Every row begins with `row()` and has all columns of the target. */
export class CopyRows {
  readonly target: CopyTarget;
  readonly #firstBytes: number;
  #writer: BinaryWriter | undefined;
  count = 0;

  /** With the size where it is known to be large. */
  constructor(target: CopyTarget, bytes = 0) {
    this.target = target;
    this.#firstBytes = Math.max(firstBytes, bytes);
  }

  row(): BinaryWriter {
    this.count++;
    this.#writer ??= new BinaryWriter(this.#firstBytes).raw(head);
    return this.#writer.rawInt16(this.target.columns);
  }

  /** The message with all rows. None may follow. */
  message(): Buffer {
    if (!this.#writer) throw new Error(`no row to copy to ${this.target.table}`);
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
    sendTogether(client, [new CopyMessage(copies, last, (error) => (error ? reject(error) : resolve()))]);
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
    // When both fail, the first error says what is wrong.
    sendTogether(client, [new CopyMessage(copies, "", (error) => error && reject(error)), run]);
  });
}

/**
 * The COPYs as statements of a pipeline. Each is parsed once for each connection, and the whole pipeline is one message with one
 * answer. A server that has met an error drops the data with all else up to the end of the message.
 */
export const copyStatements = (copies: readonly CopyRows[]): PipelineStatement[] =>
  copies
    .filter(({ count }) => count > 0)
    .map((copy) => ({ name: `copy_${copy.target.table}`, text: copy.target.statement, copy }));

class CopyMessage implements OwnMessage {
  /** The name of its span. */
  readonly label: string;
  readonly #copies: readonly CopyRows[];
  readonly #last: string;
  readonly #done: (error: Error | undefined) => void;
  #error: Error | undefined;
  /** The client looks at it for a query timeout; none is set. */
  callback = (): void => undefined;

  constructor(copies: readonly CopyRows[], last: string, done: (error: Error | undefined) => void) {
    this.#copies = copies.filter(({ count }) => count > 0);
    this.#last = last;
    this.label = last.endsWith("commit") ? "COPY and COMMIT" : "COPY";
    this.#done = done;
  }

  foreignTo(): undefined {
    return undefined;
  }

  writeTo(wire: Wire): void {
    wire.query([...this.#copies.map(({ target }) => target.statement), this.#last].join("; "));
    for (const copy of this.#copies) {
      wire.stream.write(copy.message());
      wire.endCopyFrom();
    }
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
    for (const copy of this.#copies) copy.release();
    this.#finish();
  }

  #finish(): void {
    this.#done(this.#error);
  }
}
