import type { Client, QueryResult } from "pg";
import type { BinaryWriter } from "./binary-writer.ts";
import { bindMessage } from "./bind-message.ts";
import type { Wire } from "./gathered-message.ts";
import { type Column, listShape, type RowShape, rowCountOf, rowShape } from "./row-shape.ts";

/** A statement of a pipeline has a name, with which a connection plans it once. */
export interface PipelineStatement {
  name: string | undefined;
  text: string;
  values?: readonly unknown[];
  /** Rows are objects unless it says so. */
  rowMode?: "array";
  /** The data of a COPY. */
  copy?: CopyData;
}

/** What a COPY sends; see copy-in.ts. */
export interface CopyData {
  /** The message with all rows. */
  message(): Buffer;
  /** Once the server has taken all of it. */
  release(): void;
}

/** By the name of a statement, which always wants its rows in the same form; undefined: it answers without rows. */
export type KnownShapes = Map<string, RowShape | undefined>;

/**
 * One statement of a pipeline. The class of the driver asks for the columns of an answer each time and reads their description
 * anew, which was a twentieth of the CPU of a gateway with small batches (profile); a connection asks once for each statement.
 */
export class PipelinePart {
  readonly name: string;
  readonly text: string;
  readonly result: QueryResult = { command: "", rowCount: null, oid: 0, fields: [], rows: [] };
  shape: RowShape | undefined;
  readonly #bind: BinaryWriter;
  readonly #isArray: boolean;
  readonly #client: Client;
  readonly #copy: CopyData | undefined;

  constructor(client: Client, { name, text, values = [], rowMode, copy }: PipelineStatement) {
    this.#client = client;
    if (name === undefined) throw new TypeError("a statement of a pipeline has a name");
    this.name = name;
    this.text = text;
    this.#bind = bindMessage(name, values);
    this.#isArray = rowMode === "array";
    this.#copy = copy;
  }

  /** A name that the connection knows as that of another statement; asked before anything is sent. */
  isForeign({ parsedStatements, submittedNamedStatements }: Wire): boolean {
    const parsed = parsedStatements[this.name] ?? submittedNamedStatements[this.name];
    return parsed !== undefined && parsed !== this.text;
  }

  writeTo(wire: Wire, known: KnownShapes): void {
    const { name, text } = this;
    const isParsed = (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined;
    if (!isParsed) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    }
    wire.stream.write(this.#bind.bytes());
    if (isParsed && known.has(name)) this.shape = known.get(name);
    else wire.describe({ type: "P", name: "" });
    wire.execute({});
    if (!this.#copy) return;
    wire.stream.write(this.#copy.message());
    wire.endCopyFrom();
  }

  describe(columns: readonly Column[]): void {
    this.shape = (this.#isArray ? listShape : rowShape)(columns, this.#client);
  }

  take(fields: readonly (string | null)[]): void {
    this.result.rows.push((this.shape as RowShape).make(fields));
  }

  end(tag: string): void {
    const end = tag.indexOf(" ");
    this.result.command = end < 0 ? tag : tag.slice(0, end);
    this.result.rowCount = rowCountOf(tag);
  }

  /** Once the server has answered. */
  release(): void {
    this.#bind.release();
    this.#copy?.release();
  }
}
