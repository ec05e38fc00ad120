import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Ajv, type ErrorObject } from "ajv";
import { rulesOf } from "../../codecs/protocols.ts";
import { CapabilitiesFile, ProtocolFile } from "./data-schemas.ts";

/** A mistake in the data files. `place` is a JSON pointer into the file. */
export class CatalogError extends Error {
  constructor(file: string, place: string, problem: string, options?: ErrorOptions) {
    super(`catalog data: ${file}${place === "" ? "" : ` ${place}`}: ${problem}`, options);
    this.name = "CatalogError";
  }
}

export interface CatalogData {
  capabilities: CapabilitiesFile;
  protocols: { file: string; data: ProtocolFile }[];
}

/** It keeps what it has compiled: the schemas are constants, and compiling them takes longer than reading all the files. */
const ajv = new Ajv({ strict: true, allowUnionTypes: true });

export function readCatalogData(dir: string): CatalogData {
  const read = <Schema extends TSchema>(file: string, schema: Schema): Static<Schema> => {
    const data = readJson(dir, file);
    check(schema, data, file, "");
    return data as Static<Schema>;
  };
  const files = readdirSync(dir).filter((name) => name.endsWith(".json") && name !== "capabilities.json");
  const protocols = files.sort().map((file) => {
    const data = read(file, ProtocolFile);
    for (const [index, model] of data.models.entries()) {
      check(rulesOf(data.protocol.slug).traits, model.traits, file, `/models/${index}/traits`);
    }
    return { file, data };
  });
  return { capabilities: read("capabilities.json", CapabilitiesFile), protocols };
}

function readJson(dir: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(dir, file), "utf8"));
  } catch (error) {
    throw new CatalogError(file, "", (error as Error).message, { cause: error });
  }
}

function check(schema: TSchema, data: unknown, file: string, place: string): void {
  const validate = ajv.compile(schema);
  if (validate(data)) return;
  // The last error names the widest rule that failed: of a union the union, not its first branch.
  const error = validate.errors?.at(-1) as ErrorObject;
  throw new CatalogError(file, place + error.instancePath, describe(error));
}

function describe({ keyword, message, params }: ErrorObject): string {
  if (keyword === "enum") return `${message}: ${(params.allowedValues as string[]).join(", ")}`;
  if (keyword === "additionalProperties") return `unknown key "${params.additionalProperty}"`;
  return message ?? keyword;
}
