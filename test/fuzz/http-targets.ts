import { Type } from "@sinclair/typebox";
import { readJson } from "../../src/http/body.ts";
import { defineList, encodeCursor, parseListQuery } from "../../src/http/lists.ts";
import { readForm } from "../../src/http/multipart.ts";
import { dateTimeParam, integerParam, textsParam, uuidParam } from "../../src/http/query-params.ts";
import { compileBody, makeValidator } from "../../src/http/validation.ts";
import { ApiError } from "../../src/lib/errors.ts";
import { multipart } from "../support/voice-upload.ts";
import type { FuzzTarget } from "./fuzz.ts";
import { damage } from "./mutations.ts";

/** Refusals of the catalog are answers; anything else would be an internal error. */
async function refusals(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
  }
}

const list = defineList({
  kind: "cursor",
  searches: "nothing",
  ordering: ["ts", "id"],
  defaultOrdering: "-ts",
  filters: {
    ts_after: dateTimeParam("After."),
    id: uuidParam("Id."),
    level: integerParam("Level.", { low: 0, high: 9 }),
    tags: textsParam("Tags."),
  },
});
const cursor = encodeCursor([{ field: "ts", descending: true }], "after", "2026-03-02T11:00:00.000Z", "7");
const queries = [
  "ts_after=2026-03-02T11:00:00Z&level=3&page_size=20&search=abc",
  `cursor=${cursor}&ordering=-ts`,
  "id=3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22&tags=a,b&ordering=ts,id",
  "ts_after=2026-03-02&order=asc&page=last",
].map((text) => Buffer.from(text));

const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 20 }),
  email: Type.Optional(Type.String({ format: "email" })),
  radius: Type.Optional(Type.Number({ minimum: 1, maximum: 50_000 })),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 5 })),
  center: Type.Optional(Type.Object({ lat: Type.Number(), lng: Type.Number() })),
});
const checkBody = compileBody(makeValidator(), Body);
const bodies = [
  '{"name":"Ada","email":"ada@example.org","radius":12.5,"tags":["a","b"],"center":{"lat":1,"lng":2}}',
  '{"name":"\\u0000","__proto__":{"x":1},"tags":[[[[]]]],"radius":1e308}',
  "[[[[[[[[{}]]]]]]]]",
].map((text) => Buffer.from(text));

const forms = [
  multipart({ file: Buffer.alloc(100), fields: { name: "x" } }),
  multipart({ fields: { a: "1", b: "2" } }),
];

export const httpTargets: readonly FuzzTarget[] = [
  {
    name: "query and cursor",
    run: async (random) => {
      const input = damage(queries, random);
      const raw = Object.fromEntries(new URLSearchParams(input.toString("latin1")));
      await refusals(() => parseListQuery(list, raw));
      return input;
    },
  },
  {
    name: "JSON body",
    run: async (random) => {
      const bytes = damage(bodies, random);
      await refusals(() => checkBody(readJson({ bytes, contentType: "application/json", tooLarge: false })));
      return bytes;
    },
  },
  {
    name: "multipart",
    run: async (random) => {
      const { payload, contentType } = random.pick(forms);
      const bytes = damage([payload], random);
      const type = random.below(8) === 0 ? damage([Buffer.from(contentType)], random).toString("latin1") : contentType;
      const raw = { bytes, contentType: type, tooLarge: false };
      await refusals(() => readForm(raw, { field: "file", maxBytes: 1000 }));
      return bytes;
    },
  },
];
