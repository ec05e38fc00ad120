import type { Client, QueryResult } from "pg";
import type { BinaryWriter } from "./binary-writer.ts";
import { bindMessage } from "./bind-message.ts";
import type { Wire } from "./gathered-message.ts";

/** A statement of a pipeline has a name, with which a connection plans it once. */
export interface PipelineStatement {
  name: string | undefined;
  text: string;
  values?: readonly unknown[];
  /** Rows are objects unless it says so. */
  rowMode?: "array";
}

export interface Column {
  name: string;
  /** What its text says. */
  parse: (text: string) => unknown;
}

/** By the name of a statement; no columns: it answers without rows. */
export type KnownColumns = Map<string, readonly Column[]>;

/**
 * One statement of a pipeline. The class of the driver asks for the columns of an answer each time and reads their description
 * anew, which was a twentieth of the CPU of a gateway with small batches (profile); a connection asks once for each statement.
 */
export class PipelinePart {
  readonly name: string;
  readonly text: string;
  readonly result: QueryResult = { command: "", rowCount: null, oid: 0, fields: [], rows: [] };
  columns: readonly Column[] = [];
  readonly #bind: BinaryWriter;
  readonly #isArray: boolean;
  readonly #client: Client;

  constructor(client: Client, { name, text, values = [], rowMode }: PipelineStatement) {
    this.#client = client;
    if (name === undefined) throw new TypeError("a statement of a pipeline has a name");
    this.name = name;
    this.text = text;
    this.#bind = bindMessage(name, values);
    this.#isArray = rowMode === "array";
  }

  /** A name that the connection knows as that of another statement; asked before anything is sent. */
  isForeign({ parsedStatements, submittedNamedStatements }: Wire): boolean {
    const parsed = parsedStatements[this.name] ?? submittedNamedStatements[this.name];
    return parsed !== undefined && parsed !== this.text;
  }

  writeTo(wire: Wire, known: KnownColumns): void {
    const { name, text } = this;
    const isParsed = (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined;
    if (!isParsed) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    }
    wire.stream.write(this.#bind.bytes());
    const columns = isParsed ? known.get(name) : undefined;
    if (columns) this.columns = columns;
    else wire.describe({ type: "P", name: "" });
    wire.execute({});
  }

  describe(fields: readonly { name: string; dataTypeID: number }[]): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#client.getTypeParser(dataTypeID, "text"),
    }));
  }

  take(fields: readonly (string | null)[]): void {
    const { columns } = this;
    const values = fields.map((field, at) => (field === null ? null : (columns[at] as Column).parse(field)));
    this.result.rows.push(
      this.#isArray ? values : Object.fromEntries(values.map((value, at) => [columns[at]?.name, value])),
    );
  }

  /** `SELECT 20`, `INSERT 0 1`, or a word alone. */
  end(tag: string): void {
    const [command = "", ...counts] = tag.split(" ");
    const count = counts.at(-1);
    this.result.command = command;
    this.result.rowCount = count === undefined ? null : Number(count);
  }

  /** Once the server has answered. */
  release(): void {
    this.#bind.release();
  }
}
