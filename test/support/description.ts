import { Ajv, type ValidateFunction } from "ajv";
import { expect } from "vitest";

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
}

/** Operations of people only, which the contract leaves out of the description. */
const undescribed = new Set(["POST /api/v1/organizations/invitations/"]);

export interface SeenAnswer {
  method: string;
  path: string;
  status: number;
  contentType: string | undefined;
  text: string;
}

/**
 * Holds every answer of the suite against the served description: the operation must list the status, and the body must fit
 * the schema, with no field that the schema does not name.
 */
export function makeAnswerCheck(description: Description): (answer: SeenAnswer) => void {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: "api", components: { schemas: strictly(description.components.schemas) } });
  const validators = new Map<string, ValidateFunction>();
  const operations = Object.entries(description.paths).map(([path, item]) => ({
    pattern: new RegExp(`^${path.replace(/\/$/, "").replace(/\{[a-z_]+\}/g, "[^/]+")}/?$`),
    literal: !path.includes("{"),
    path,
    item,
  }));

  return ({ method, path, status, contentType, text }) => {
    const isOAuth = path.startsWith("/o/") && method === "POST";
    if (!path.startsWith("/api/v1/") && !isOAuth) return;
    const matches = operations.filter(({ pattern }) => pattern.test(path.split("?", 1)[0] as string));
    const match = matches.find(({ literal }) => literal) ?? matches[0];
    const operation = match?.item[method.toLowerCase()];
    if (!operation) {
      if (undescribed.has(`${method} ${path.replace(/\/?$/, "/")}`)) return;
      expect([401, 403, 429, 500, 503], `${method} ${path} is not described`).toContain(status);
      return;
    }
    const answer = operation.responses[String(status)];
    expect(answer, `${method} ${match?.path} does not describe status ${status}: ${text}`).toBeDefined();
    const type = contentType?.split(";", 1)[0] ?? "";
    if (!answer?.content) {
      expect(text, `${method} ${path} ${status} has no body in the description`).toBe("");
      return;
    }
    const schema = answer.content[type]?.schema as Json;
    expect(schema, `${method} ${path} ${status} does not describe ${type}`).toBeDefined();
    if (!type.endsWith("json")) return;
    const key = JSON.stringify(schema);
    const validate = validators.get(key) ?? ajv.compile(strictly(rebased(schema)) as Json);
    validators.set(key, validate);
    const valid = validate(JSON.parse(text));
    expect(validate.errors ?? [], `${method} ${path} ${status}: ${text.slice(0, 500)}`).toEqual([]);
    expect(valid).toBe(true);
  };
}

const rebased = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/'));

/** Objects without a word on further properties have none; lists of possible null values follow `nullable`. */
export function strictly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictly);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strictly(value)])) as Json;
  if (copy.properties && !("additionalProperties" in copy)) copy.additionalProperties = false;
  return copy;
}
