import type { Client, Connection, QueryResult } from "pg";
import { type OwnMessage, sendTogether, type Wire } from "./gathered-message.ts";
import { type KnownShapes, PipelinePart, type PipelineStatement } from "./pipeline-part.ts";
import type { Column } from "./row-shape.ts";
import { summaryOf } from "./traced-client.ts";

/** What the statements of a connection answer with: it stays as long as the connection. */
const knownShapes = new WeakMap<Connection, KnownShapes>();

/**
 * Runs named statements as one message: a single round trip for all of them. The first one that fails ends the message; the server
 * does not reach those after it.
 */
export function pipeline(client: Client, statements: readonly PipelineStatement[]): Promise<QueryResult[]> {
  return new Promise((resolve, reject) => {
    sendTogether(client, [
      new Pipeline(client, statements, (error, results) => (error ? reject(error) : resolve(results))),
    ]);
  });
}

/** The message itself, for those who send it together with another one. */
export class Pipeline implements OwnMessage {
  readonly #parts: readonly PipelinePart[];
  readonly #done: (error: Error | undefined, results: QueryResult[]) => void;
  #at = 0;
  #error: Error | undefined;
  #connection: Wire | undefined;
  /** The client looks at it for a query timeout; none is set. */
  callback = (): void => undefined;

  constructor(
    client: Client,
    statements: readonly PipelineStatement[],
    done: (error: Error | undefined, results: QueryResult[]) => void,
  ) {
    this.#done = done;
    // Before anything is sent: a value that cannot be written must not leave half a message behind.
    this.#parts = statements.map((statement) => new PipelinePart(client, statement));
  }

  /** The name of its span. */
  get label(): string {
    return this.#parts.map(({ text }) => summaryOf(text)).join(", ");
  }

  /** The client notes under this name that the statement was parsed. */
  get name(): string {
    return this.#part.name;
  }

  get text(): string {
    return this.#part.text;
  }

  /** The last one until ReadyForQuery: a server that is being shut down may say so after its last answer. */
  get #part(): PipelinePart {
    return this.#parts[Math.min(this.#at, this.#parts.length - 1)] as PipelinePart;
  }

  /** Why it cannot be sent. */
  foreignTo(connection: Connection): Error | undefined {
    const part = this.#parts.find((part) => part.isForeign(connection as Wire));
    return part && new Error(`"${part.name}" is the name of another statement`);
  }

  /** `connection`: the one itself, which knows its statements. */
  writeTo(wire: Wire, connection: Connection): void {
    this.#connection = connection as Wire;
    const known = knownShapes.get(connection) ?? new Map();
    knownShapes.set(connection, known);
    for (const part of this.#parts) part.writeTo(wire, known);
    wire.sync();
  }

  handleCopyInResponse(): void {}

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    this.#part.describe(fields);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#part.take(fields);
    } catch (error) {
      this.#error ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const part = this.#part;
    part.end(text);
    if (this.#connection) knownShapes.get(this.#connection)?.set(part.name, part.shape);
    this.#at++;
  }

  /** After an error of the server the client waits for ReadyForQuery with no active query; after a lost connection nothing comes. */
  handleError(error: Error): void {
    for (const { name } of this.#parts.slice(this.#at)) delete this.#connection?.submittedNamedStatements[name];
    this.#done(this.#error ?? error, []);
  }

  handleReadyForQuery(): void {
    for (const part of this.#parts) part.release();
    if (this.#error) this.#done(this.#error, []);
    else
      this.#done(
        undefined,
        this.#parts.map(({ result }) => result),
      );
  }
}
