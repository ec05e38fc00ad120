import type { TSchema } from "@sinclair/typebox";
import build, { type Schema } from "fast-json-stringify";
import type { Route } from "./route.ts";
import { collectNamed } from "./schemas.ts";

type Serialize = (body: unknown) => string;

/** By status; an answer that is no JSON has none. */
export const answerSchemas = (route: Route): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries(route.responses).flatMap(([status, schema]) =>
      schema && !route.produces ? [[status, schema]] : [],
    ),
  );

/**
 * Compiles a serializer with its first answer: to compile all of them took most of the time that the service needs to start, and
 * devices wait for that. A schema that does not compile is found by a test of the whole route table.
 */
export function lazySerializer(schema: TSchema): Serialize {
  let serialize: Serialize | undefined;
  return (body) => {
    serialize ??= compileSerializer(schema);
    return serialize(body);
  };
}

export function compileSerializer(schema: TSchema): Serialize {
  // The library's own type wants a `type` in every schema, which a reference has not.
  const typed = (one: TSchema): Schema => one as unknown as Schema;
  const referred = [...collectNamed([schema])].filter(([, named]) => named !== schema);
  return build(typed(schema), { schema: Object.fromEntries(referred.map(([name, named]) => [name, typed(named)])) });
}
