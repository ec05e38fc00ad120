import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";
import { strictly } from "../support/description.ts";

type Json = Record<string, unknown>;
interface Body {
  content?: Record<string, { schema: Json; example?: unknown }>;
}
interface Operation {
  operationId: string;
  requestBody?: Body;
  responses: Record<string, Body>;
}
interface Description {
  paths: Record<string, Record<string, Operation>>;
  "x-webhooks": Record<string, { post: Operation }>;
  components: { schemas: Record<string, Json> };
}

describe("the examples of the description", () => {
  let api: TestApi;
  let description: Description;

  beforeAll(async () => {
    api = await openTestApi();
    description = (await api.call("GET", "/api/schema/?format=json")).body;
  });
  afterAll(() => api.close());

  /** Every JSON body of the operations, with a name for the report. */
  function* bodies(): Generator<{ name: string; schema: Json; example: unknown }> {
    const operations = [
      ...Object.values(description.paths).flatMap((item) => Object.values(item)),
      ...Object.values(description["x-webhooks"]).map(({ post }) => post),
    ];
    for (const { operationId, requestBody, responses } of operations) {
      const answers = Object.entries(responses).filter(([status]) => /^2\d\d$/.test(status));
      for (const [part, body] of [["request", requestBody] as const, ...answers]) {
        for (const [type, media] of Object.entries(body?.content ?? {})) {
          if (type.endsWith("json")) yield { name: `${operationId} ${part}`, ...media, example: media.example };
        }
      }
    }
  }

  it("exist for every operation and every type of event", () => {
    expect([...bodies()].flatMap(({ name, example }) => (example === undefined ? [name] : []))).toEqual([]);
    expect([...bodies()].length).toBeGreaterThan(100);
  });

  it("are those of the page of event types", async () => {
    const page = await readFile(resolve(import.meta.dirname, "../../docs/partners/event-types.md"), "utf8");
    const shown = [...page.matchAll(/## (\S+)\n[\s\S]*?```json\n([\s\S]*?)```/g)].map(
      ([, type, text]) => [type as string, JSON.parse(text as string)] as const,
    );
    const served = Object.entries(description["x-webhooks"]).map(
      ([type, { post }]) => [type, post.requestBody?.content?.["application/json"]?.example] as const,
    );
    expect(shown).toEqual(served);
  });

  it("fit their schemas, with no field that the schema does not name", () => {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema({ $id: "api", components: { schemas: strictly(description.components.schemas) } });
    const wrong = [...bodies()].flatMap(({ name, schema, example }) => {
      const rebased = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
      const validate = ajv.compile(strictly(JSON.parse(rebased)) as Json);
      return validate(example) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`];
    });
    expect(wrong).toEqual([]);
  });
});
