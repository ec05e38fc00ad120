import { type Client, type Connection, type CustomTypesConfig, Query, type QueryConfig, type QueryResultRow } from "pg";
import { isUnprepared } from "./failures.ts";
import type { Wire } from "./gathered-message.ts";
import { type Column, type RowShape, rowCountOf, rowShape } from "./row-shape.ts";
import type { Statement } from "./sql.ts";
import { summaryOf } from "./traced-client.ts";

export interface Outcome {
  rows: QueryResultRow[];
  rowCount: number | null;
}

type Done = (error: Error | null | undefined, outcome: Outcome) => void;
export type NamedStatement = Statement & { name: string };

/** The parts of a query that the type declarations do not show. */
interface DriverQuery {
  name: string;
  text: string;
  /** The client puts another in its place while it watches the time. */
  callback: Done;
  submit(connection: Connection): Error | null;
}
const Base = Query as unknown as new (config: QueryConfig, values: undefined, callback: Done) => DriverQuery;

/** Execute of the unnamed portal without a limit, and Sync. */
const executeAndSync = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);

/** The statements of one connection whose columns are known. */
export class PreparedConnection {
  readonly shapes = new Map<string, RowShape>();
  readonly types: CustomTypesConfig;
  readonly #client: Client & { connection: Connection };
  readonly #undescribed: Connection;
  #isCorked = false;

  constructor(client: Client, types: CustomTypesConfig) {
    this.#client = client as Client & { connection: Connection };
    this.types = types;
    const { connection } = this.#client;
    const { stream } = connection;
    // For a statement whose columns are known: it is not described again, and what always ends it is one piece.
    this.#undescribed = Object.create(connection, {
      describe: { value: () => undefined },
      execute: { value: () => undefined },
      sync: { value: () => stream.write(executeAndSync) },
    }) as Connection;
  }

  /** What is sent in one turn of the event loop goes out in one piece. */
  query(statement: NamedStatement): Promise<Outcome> {
    this.#cork();
    return new Promise((resolve, reject) => {
      const read = new PreparedRead(statement, this, (error, outcome) => (error ? reject(error) : resolve(outcome)));
      this.#client.query(read as never);
    });
  }

  connectionFor(name: string, connection: Connection): Connection {
    const isParsed = (connection as Wire).parsedStatements[name] !== undefined;
    return isParsed && this.shapes.has(name) ? this.#undescribed : connection;
  }

  /** The statement is parsed again with its next use. The driver itself forgets only statements that are being parsed. */
  forget(name: string): void {
    delete (this.#client.connection as Wire).parsedStatements[name];
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    setImmediate(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

/** A named statement that asks for its columns once for each connection, and whose rows are made by a RowShape. */
class PreparedRead extends Base {
  readonly #connection: PreparedConnection;
  readonly #outcome: Outcome = { rows: [], rowCount: null };
  #error: Error | undefined;
  #shape: RowShape | undefined;

  constructor({ name, text, values }: NamedStatement, connection: PreparedConnection, done: Done) {
    super({ name, text, values }, undefined, done);
    this.#connection = connection;
    this.#shape = connection.shapes.get(name);
  }

  /** The name of its span. */
  get label(): string {
    return summaryOf(this.text);
  }

  get queryText(): string {
    return this.text;
  }

  override submit(connection: Connection): Error | null {
    return super.submit(this.#connection.connectionFor(this.name, connection));
  }

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    this.#shape = rowShape(fields, this.#connection.types);
    this.#connection.shapes.set(this.name, this.#shape);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#outcome.rows.push((this.#shape as RowShape).make(fields));
    } catch (error) {
      this.#error ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#outcome.rowCount = rowCountOf(text);
  }

  handleError(error: Error): void {
    if (isUnprepared(error)) this.#connection.forget(this.name);
    this.callback(this.#error ?? error, this.#outcome);
  }

  handleReadyForQuery(): void {
    this.callback(this.#error, this.#outcome);
  }
}
