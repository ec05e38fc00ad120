import { it } from "vitest";
import { answerSchemas, compileSerializer } from "../../src/http/answer-serializers.ts";
import type { Route } from "../../src/http/route.ts";
import { compileBody, makeValidator } from "../../src/http/validation.ts";

/** The service compiles a schema with its first use, so a bad one is found here. */
export function describeSchemasThatCompile(routes: readonly Route[]): void {
  const validator = makeValidator();
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s has schemas of its body and answers that compile",
    (_, route) => {
      if (route.body) compileBody(validator, route.body);
      for (const schema of Object.values(answerSchemas(route))) compileSerializer(schema);
    },
  );
}
