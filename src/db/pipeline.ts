import {
  type Client,
  type Connection,
  Query,
  type QueryArrayConfig,
  type QueryConfig,
  type QueryResult,
  type Submittable,
} from "pg";
import type { BinaryWriter } from "./binary-writer.ts";
import { bindMessage } from "./bind-message.ts";
import { summaryOf } from "./traced-client.ts";

/** What a message needs of a connection and the type declarations do not show. */
interface Wire extends Connection {
  submittedNamedStatements: Record<string, string>;
  bind(values: unknown): void;
  sync(): void;
}

/** The handlers of a query, which the type declarations do not show. */
interface Part extends Query {
  name: string;
  text: string;
  submit(connection: Connection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

/**
 * Runs named statements as one message: a single round trip for all of them. The first one that fails ends the message; the server
 * does not reach those after it.
 */
export function pipeline(
  client: Client,
  statements: readonly (QueryConfig | QueryArrayConfig)[],
): Promise<QueryResult[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new Pipeline(statements, (error, results) =>
        error ? reject(error) : resolve(results),
      ) as unknown as Submittable,
    );
  });
}

/** The message itself, for those who send it together with another one. */
export class Pipeline {
  readonly #results: QueryResult[] = [];
  readonly #parts: readonly Part[];
  /** One for each part; undefined: the driver writes it. */
  readonly #binds: readonly (BinaryWriter | undefined)[];
  readonly #done: (error: Error | undefined, results: QueryResult[]) => void;
  #at = 0;
  #error: Error | undefined;
  #wire: Wire | undefined;
  /** The client looks at it for a query timeout; none is set. */
  callback = (): void => undefined;

  constructor(
    statements: readonly (QueryConfig | QueryArrayConfig)[],
    done: (error: Error | undefined, results: QueryResult[]) => void,
  ) {
    this.#done = done;
    // Before anything is sent: a value that cannot be written must not leave half a message behind.
    this.#binds = statements.map(bindMessage);
    this.#parts = statements.map((statement) => {
      const keep = (error: Error | null, result: QueryResult): void => {
        if (error) this.#error ??= error;
        else this.#results.push(result);
      };
      // The declarations know the callback only of queries without a row mode.
      return new (Query as unknown as new (...given: unknown[]) => Part)(statement, undefined, keep);
    });
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
  get #part(): Part {
    return this.#parts[Math.min(this.#at, this.#parts.length - 1)] as Part;
  }

  submit(connection: Connection): Error | null {
    const wire = connection as Wire;
    this.#wire = wire;
    let bind: BinaryWriter | undefined;
    // Each part would end with a message of its own.
    const unsynced = Object.create(wire, {
      sync: { value: () => undefined },
      bind: { value: (values: unknown) => (bind ? wire.stream.write(bind.bytes()) : wire.bind(values)) },
    }) as Connection;
    wire.stream.cork();
    for (const [index, part] of this.#parts.entries()) {
      bind = this.#binds[index];
      part.submit(unsynced);
    }
    wire.sync();
    wire.stream.uncork();
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.#part.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#part.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#part.handleCommandComplete(message, connection);
    this.#at++;
  }

  /** After an error of the server the client waits for ReadyForQuery with no active query; after a lost connection nothing comes. */
  handleError(error: Error): void {
    for (const { name } of this.#parts.slice(this.#at)) delete this.#wire?.submittedNamedStatements[name];
    this.#done(this.#error ?? error, []);
  }

  handleReadyForQuery(): void {
    for (const bind of this.#binds) bind?.release();
    for (const part of this.#parts) part.handleReadyForQuery(this.#wire as Wire);
    this.#done(this.#error, this.#results);
  }
}
