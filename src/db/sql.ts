import { createHash } from "node:crypto";

/** A piece of SQL with its parameters. Made only by the `sql` template, so a value can never become text of a statement. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  readonly naming: Naming;

  constructor(strings: readonly string[], values: readonly unknown[], naming: Naming = "always") {
    this.strings = strings;
    this.values = values;
    this.naming = naming;
  }
}

/** Whether a statement is prepared under a name: `bounded` and `never` are for texts whose shape a caller chooses. */
export type Naming = "always" | "bounded" | "never";

export const withNaming = (naming: Naming, part: Sql): Sql => new Sql(part.strings, part.values, naming);

export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  return new Sql(strings, values);
}

/** Text that the program itself wrote (a table name of a partition, a bound of DDL). Never give it input. */
export const rawSql = (text: string): Sql => new Sql([text], []);

const emptySql = new Sql([""], []);

export function joinSql(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return emptySql;
  const strings = ["", ...parts.slice(1).map(() => separator), ""];
  return new Sql(strings, parts);
}

/** `a and b and c`, or `true` for no condition. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : joinSql(conditions, " and ");

export interface Statement {
  name: string | undefined;
  text: string;
  values: unknown[];
}

function flatten(part: Sql, text: string[], values: unknown[]): void {
  for (const [index, string] of part.strings.entries()) {
    text.push(string);
    if (index >= part.values.length) continue;
    const value = part.values[index];
    if (value instanceof Sql) flatten(value, text, values);
    else {
      values.push(value === undefined ? null : value);
      text.push(`$${values.length}`);
    }
  }
}

/** For a connection of one's own, where a statement is always the same and has a name one can read. */
export function namedStatement(name: string, part: Sql): Statement {
  const [texts, values]: [string[], unknown[]] = [[], []];
  flatten(part, texts, values);
  return { name, text: texts.join(""), values };
}

/**
 * Turns pieces into one statement and gives it a name, because a named statement is planned once per connection and halves the
 * database's CPU. Each name costs memory on every connection for as long as it lives, so their number is bounded. Lists combine
 * filters freely: their statements share a small part of the names, which callers with rare combinations can use up, and those of
 * the program itself stay out of their reach.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #limit: number;
  readonly #boundedLimit: number;
  #boundedCount = 0;

  constructor(limit = 1000, boundedLimit = 150) {
    this.#limit = limit;
    this.#boundedLimit = boundedLimit;
  }

  compile(part: Sql): Statement {
    const texts: string[] = [];
    const values: unknown[] = [];
    flatten(part, texts, values);
    const text = texts.join("");
    return { name: this.#nameOf(text, part.naming), text, values };
  }

  #nameOf(text: string, naming: Naming): string | undefined {
    if (naming === "never") return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= this.#limit) return undefined;
    if (naming === "bounded" && this.#boundedCount >= this.#boundedLimit) return undefined;
    const name = `v_${createHash("sha1").update(text).digest("base64url").slice(0, 20)}`;
    this.#names.set(text, name);
    if (naming === "bounded") this.#boundedCount++;
    return name;
  }
}
