import { Ajv, type AnySchema, type Options } from "ajv";
import type { FieldErrors } from "../lib/errors.ts";
import { fieldErrors } from "./field-errors.ts";

/** Undefined: the value is good. */
export type SchemaCheck = (value: unknown) => FieldErrors | undefined;

/** Longer lists than any schema allows say the same again and again. */
const defaultMaxItems = 50;

/**
 * Checks values against schemas, with an amount of work that a caller cannot choose. The first look stops at the first error, so a
 * good value costs one pass and a bad one at most that. Only a bad one is looked at again for all its errors, and then every list
 * in it is cut to one item more than the schema allows anywhere.
 */
export class SchemaChecker {
  readonly #first: Ajv;
  readonly #options: Options;
  readonly #formats = new Map<string, (text: string) => boolean>();
  /** Made for the first value that is refused. */
  #all: Ajv | undefined;
  /** What `#all` does not know yet. */
  readonly #named = new Map<string, AnySchema>();

  constructor(options: Options) {
    this.#first = new Ajv({ ...options, allErrors: false });
    this.#options = options;
  }

  addFormat(name: string, isValid: (text: string) => boolean): this {
    this.#first.addFormat(name, isValid);
    this.#formats.set(name, isValid);
    return this;
  }

  /** A schema that others refer to by its name. */
  addNamed(name: string, schema: AnySchema): void {
    if (!this.#first.getSchema(name)) this.#first.addSchema(schema);
    this.#named.set(name, schema);
  }

  /** `root` is what the value is called in errors. Throws for a schema that is none. */
  compile(schema: AnySchema, root = "", referred: readonly AnySchema[] = []): SchemaCheck {
    const isGood = this.#first.compile(schema);
    let maxItems: number | undefined;
    return (value) => {
      if (isGood(value)) return undefined;
      maxItems ??= maxItemsOf([schema, ...referred]);
      const findAll = this.#prepareAll().compile(schema);
      findAll(excerptOf(value, maxItems + 1));
      return fieldErrors(findAll.errors ?? [], root);
    };
  }

  #prepareAll(): Ajv {
    this.#all ??= new Ajv({
      ...this.#options,
      allErrors: true,
      verbose: true,
      formats: Object.fromEntries(this.#formats),
    });
    for (const [name, schema] of this.#named) if (!this.#all.getSchema(name)) this.#all.addSchema(schema);
    this.#named.clear();
    return this.#all;
  }
}

const maxItemsOf = (schemas: readonly AnySchema[]): number => {
  const limits = schemas.flatMap((schema) => [...JSON.stringify(schema).matchAll(/"maxItems":(\d+)/g)]);
  return Math.max(defaultMaxItems, ...limits.map(([, limit]) => Number(limit)));
};

/** Deeper than any schema looks. */
const maxDepth = 20;

function excerptOf(value: unknown, maxItems: number, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > maxDepth) return value;
  const copy = (item: unknown): unknown => excerptOf(item, maxItems, depth + 1);
  if (Array.isArray(value)) return value.slice(0, maxItems).map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
}
