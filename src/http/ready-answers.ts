import type { FastifyRequest } from "fastify";
import type { JsonText } from "./answer-headers.ts";
import type { Caller } from "./principal.ts";
import type { Route } from "./route.ts";

/** Texts of answers that would be written the same again. */
export interface ReadyAnswers {
  find(request: FastifyRequest, caller: Caller): JsonText | undefined;
  keep(request: FastifyRequest, caller: Caller, text: JsonText): void;
}

const maxAddresses = 200;
const maxAddressLength = 200;

/** Undefined for a route whose answers have to be made each time. */
export function readyAnswers({ dependsOn }: Route): ReadyAnswers | undefined {
  if (dependsOn === "address") return byAddress();
  if (dependsOn === "partner") return byPartner();
  return undefined;
}

function byAddress(): ReadyAnswers {
  const texts = new Map<string, JsonText>();
  return {
    find: ({ url }) => texts.get(url),
    keep: ({ url }, _caller, text) => {
      if (texts.size < maxAddresses && url.length < maxAddressLength) texts.set(url, text);
    },
  };
}

/** An identity is read anew whenever something of it has changed, so its text lives as long as the object. */
function byPartner(): ReadyAnswers {
  const texts = new WeakMap<object, JsonText>();
  return {
    find: (_request, caller) => (caller.kind === "partner" ? texts.get(caller.partner) : undefined),
    keep: (_request, caller, text) => {
      if (caller.kind === "partner") texts.set(caller.partner, text);
    },
  };
}
