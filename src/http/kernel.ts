import type { TSchema } from "@sinclair/typebox";
import type { Ajv } from "ajv";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database, Db, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { notFound, throttled } from "../lib/errors.ts";
import { isImei, isUuid } from "../lib/ids.ts";
import type { RawBody } from "../lib/raw-body.ts";
import type { Authenticator } from "./authenticate.ts";
import { readJson } from "./body.ts";
import { passGates } from "./gates.ts";
import { answerOnce, hashOfValue, readIdempotencyKey } from "./idempotency.ts";
import type { ListPage } from "./list-results.ts";
import { parseListQuery, parseParams } from "./lists.ts";
import { literalSegments } from "./literal-segments.ts";
import { actorOf, type Principal } from "./principal.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { personPolicies, type RateDecision, type RatePolicy, rateHeaders } from "./rate-limit-window.ts";
import type { Answer, LoadContext, PathParam, Route, RouteContext } from "./route.ts";
import { collectNamed } from "./schemas.ts";
import { type BodyCheck, compileBody, makeValidator } from "./validation.ts";

type Query = Readonly<Record<never, never>>;
type Load = LoadContext<Query, Query>;

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | undefined;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

export interface KernelOptions {
  db: Database;
  clock: Clock;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  baseUrl: () => string;
}

const apiRoot = "/api/v1";

/**
 * Puts the table of routes on the server. A call passes, in this order and each step only after the one before: token, rate
 * limit, surface, kind of principal, feature, scope or role (all before the body is read), then Idempotency-Key, object,
 * body, and the handler with its checks of state.
 */
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], options: KernelOptions): void {
  const validator = makeValidator();
  const isLiteral = literalSegments(routes);
  for (const schema of collectNamed(routes.flatMap(schemasOf)).values()) app.addSchema(schema);
  app.decorateRequest("principal", undefined);

  /** Steps 2 to 6, once the caller is known. */
  function admit(request: FastifyRequest, reply: FastifyReply, principal: Principal, decision: RateDecision): void {
    request.principal = principal;
    reply.headers(rateHeaders(decision));
    if (!decision.allowed) throw throttled(decision.waitSeconds, decision.violated);
    const { route } = request.routeOptions.config;
    // The router would read a doubled slash as an empty parameter.
    const isDoubled = request.url.includes("//") && pathOf(request.url).includes("//");
    const isOutside = isDoubled || (route && isLiteral(route, request.params as Record<string, string>));
    passGates(isOutside ? undefined : route, principal);
  }

  app.addHook("onRequest", async (request, reply) => {
    if (!isApiPath(request.url)) return;
    const header = request.headers.authorization;
    const principal = options.authenticator.remembered(header) ?? (await options.authenticator.authenticate(header));
    const taken = options.rateLimiter.take(principal.id, policiesOf(principal));
    admit(request, reply, principal, taken instanceof Promise ? await taken : taken);
  });

  for (const route of routes) {
    const run = makeRunner(route, validator, options);
    app.route({
      method: route.method,
      url: route.path,
      config: { route },
      schema: { response: serializers(route) },
      handler: (request, reply) => run(request, reply, request.principal as Principal),
    });
  }
}

export const isApiPath = (url: string): boolean =>
  url.startsWith(apiRoot) && /^(\/|\?|#|$)/.test(url.slice(apiRoot.length));

const policiesOf = (principal: Principal): readonly RatePolicy[] =>
  principal.kind === "person" ? personPolicies : principal.partner.ratePolicies;

const schemasOf = (route: Route): TSchema[] =>
  [route.body, ...Object.values(route.responses)].filter((schema): schema is TSchema => !!schema);

const serializers = (route: Route): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(route.responses).flatMap(([status, schema]) => (schema ? [[status, schema]] : [])));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wellFormed: Record<PathParam, (text: string) => boolean> = {
  uuid: isUuid,
  imei: isImei,
  integer: (text) => /^\d{1,15}$/.test(text),
  slug: (text) => /^[A-Za-z0-9_-]{1,100}$/.test(text),
};

function readParams(route: Route, given: Readonly<Record<string, string>>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, kind] of Object.entries(route.params ?? {})) {
    const text = given[name] ?? "";
    if (!wellFormed[kind](text)) throw notFound();
    params[name] = kind === "uuid" ? text.toLowerCase() : text;
  }
  return params;
}

type Runner = (request: FastifyRequest, reply: FastifyReply, principal: Principal) => Promise<unknown>;

function makeRunner(route: Route, validator: Ajv, options: KernelOptions): Runner {
  const { db, clock } = options;
  const checkBody: BodyCheck<unknown> | undefined = route.body && compileBody(validator, route.body);
  const constants = route.isConstant ? new Map<string, string>() : undefined;

  /** Steps 8 to 10: object, body, state. */
  async function perform(
    load: Load,
    transaction: RouteContext<unknown, Query, Query, unknown>["transaction"],
    request: FastifyRequest,
  ): Promise<Answer> {
    const object = route.load ? await route.load(load) : undefined;
    const given = checkBody ? readJson(request.body as RawBody | undefined) : undefined;
    if (route.precheck && isRecord(given)) await route.precheck(given, load);
    const body = checkBody?.(given);
    const path = pathOf(request.url);
    return route.handle({
      ...load,
      body,
      object,
      transaction,
      page: (page, toItem) => pageAnswer(page, toItem, options.baseUrl() + path, request.query as RawQuery),
    });
  }

  return async (request, reply, principal) => {
    const context = (on: Db): Load => ({
      principal,
      organizationId: principal.organization.id,
      actor: actorOf(principal, request.id, request.ip),
      params: readParams(route, request.params as Record<string, string>),
      query: () => parseParams(route.query ?? {}, lastValues(request.query)),
      list: () => {
        if (!route.list) throw new Error(`${route.operationId} is not a list`);
        return parseListQuery(route.list, lastValues(request.query));
      },
      now: clock.now(),
      requestId: request.id,
      db: on,
      link: (target) => options.baseUrl() + target,
    });

    const constant = constants?.get(request.url);
    if (constant !== undefined) return reply.header("content-type", jsonType).send(constant);
    const key = route.isIdempotent ? readIdempotencyKey(request.headers["idempotency-key"]) : undefined;
    if (key === undefined) {
      const answer = await perform(context(db), (work) => db.transaction(work), request);
      return constants ? sendAndKeep(constants, request.url, reply, answer) : send(reply, answer);
    }

    const scope = {
      principalId: principal.id,
      method: request.method,
      path: pathOf(request.url).replace(/\/$/, ""),
      key,
    };
    const once = await answerOnce(db, scope, bodyHash(request), clock.now(), request.id, async (tx: Tx) => {
      const answer = await perform(context(tx), (work) => work(tx), request);
      reply.code(answer.status);
      return {
        status: answer.status,
        body: reply.serialize(answer.body) as string,
        contentType: jsonType,
        location: answer.headers?.Location ?? null,
      };
    });
    if (once.isReplay) reply.header("Idempotency-Replayed", "true");
    if (once.location !== null) reply.header("Location", once.location);
    return reply.code(once.status).header("Content-Type", once.contentType).send(once.body);
  };
}

const jsonType = "application/json; charset=utf-8";
const keptConstants = 200;

/** An answer that is the same for everybody until the service ends; kept as text, for a bounded number of addresses. */
function sendAndKeep(constants: Map<string, string>, url: string, reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status);
  const text = reply.serialize(answer.body) as string;
  if (constants.size < keptConstants && url.length < 200) constants.set(url, text);
  return reply.header("content-type", jsonType).send(text);
}

/** A body that cannot be read still has a hash, so that it differs from the first one. */
function bodyHash(request: FastifyRequest): Buffer {
  const raw = request.body as RawBody | undefined;
  try {
    return hashOfValue(readJson(raw));
  } catch {
    return hashOfValue(["unreadable", raw?.bytes.toString("base64") ?? ""]);
  }
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status);
  if (answer.headers) reply.headers(answer.headers);
  return reply.send(answer.body);
}

const pathOf = (url: string): string => {
  const path = url.split("?", 1)[0] as string;
  return path.endsWith("/") ? path : `${path}/`;
};

type RawQuery = Readonly<Record<string, string | string[]>>;

/** Of a repeated parameter the last one counts. */
function lastValues(query: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as RawQuery)) {
    values[name] = (Array.isArray(value) ? value.at(-1) : value) ?? "";
  }
  return values;
}

function pageAnswer<Row, Item>(
  page: ListPage<Row>,
  toItem: (row: Row) => Item,
  address: string,
  query: RawQuery,
): Answer {
  const link = (changed: Record<string, string> | null): string | null => {
    if (!changed) return null;
    const params = new URLSearchParams(Object.entries({ ...lastValues(query), ...changed }));
    return `${address}?${params}`;
  };
  const body = { next: link(page.next), previous: link(page.previous), results: page.rows.map(toItem) };
  return { status: 200, body: page.count === undefined ? body : { count: page.count, ...body } };
}
