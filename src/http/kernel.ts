import type { TSchema } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Database, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { throttled } from "../lib/errors.ts";
import type { RawBody } from "../lib/raw-body.ts";
import { type JsonText, jsonTextOf, jsonType, setApiHeaders, writeJson } from "./answer-headers.ts";
import { answerSchemas, lazySerializer } from "./answer-serializers.ts";
import type { Authenticator } from "./authenticate.ts";
import { readJson, readText } from "./body.ts";
import { CallContext, pathOf } from "./call-context.ts";
import { checkOrigin } from "./cross-site.ts";
import type { LeaveWhenDraining } from "./draining.ts";
import { fairDatabase, type StatementShares } from "./fair-database.ts";
import { passGates } from "./gates.ts";
import { type HistoryReads, historyDatabase, type SpreadReads, spreadDatabase } from "./history-database.ts";
import { answerOnce, hashOfValue, readIdempotencyKey } from "./idempotency.ts";
import { literalSegments } from "./literal-segments.ts";
import { formHash, readForm } from "./multipart.ts";
import { type Caller, tenantOf } from "./principal.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { personPolicies, type RateDecision, type RatePolicy } from "./rate-limit-window.ts";
import { type ReadyAnswers, readyAnswers } from "./ready-answers.ts";
import type { Answer, Route } from "./route.ts";
import type { SchemaChecker } from "./schema-check.ts";
import { type BodyCheck, lazyBody, makeValidator } from "./validation.ts";

declare module "fastify" {
  interface FastifyRequest {
    principal: Caller | undefined;
    /** What the limits said of this call; its headers are part of the answer, whatever that is. */
    rateDecision: RateDecision | undefined;
    /** Gives back the room that the body of an upload takes. */
    releaseUpload: (() => void) | undefined;
  }
  interface FastifyContextConfig {
    route?: Route;
    /** The longest body that is read, where it differs from the general limit. */
    maxBodyBytes?: number;
  }
}

export interface KernelOptions {
  db: Database;
  clock: Clock;
  authenticator: Authenticator;
  rateLimiter: RateLimiter;
  /** Shares of organizations in running statements. */
  statements: StatementShares;
  /** Undefined: history is read from the main database too. */
  history?: HistoryReads | undefined;
  /** Undefined: the database has no workers to ask; what they would be asked is history. */
  spread?: SpreadReads | undefined;
  baseUrl: () => string;
  leaveWhenDraining: LeaveWhenDraining;
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
  app.decorateRequest("principal", undefined);
  app.decorateRequest("rateDecision", undefined);
  app.decorateRequest("releaseUpload", undefined);

  /** Steps 2 to 6, once the caller is known. Without a route the call is outside the surface. */
  function admit(request: FastifyRequest, route: Route | undefined, principal: Caller, decision: RateDecision): void {
    request.principal = principal;
    request.rateDecision = decision;
    if (!decision.allowed) throw throttled(decision.waitSeconds, decision.violated);
    // The router would read a doubled slash as an empty parameter.
    const isDoubled = request.url.includes("//") && pathOf(request.url).includes("//");
    const isOutside =
      isDoubled || (route?.params !== undefined && isLiteral(route, request.params as Record<string, string>));
    passGates(isOutside ? undefined : route, principal);
  }

  /** Steps 1 to 6. With a callback, and no promise for a partner whose token and quota are in memory: most calls are warm. */
  function gateOf(route: Route | undefined): Gate {
    const { authenticator, rateLimiter } = options;
    const isConsole = route !== undefined && isConsoleRoute(route);

    async function admitLater(
      request: FastifyRequest,
      found: Caller | Promise<Caller>,
      taken?: Promise<RateDecision>,
    ): Promise<void> {
      const principal = await found;
      checkOrigin(request, principal, options.baseUrl);
      const decision = await (taken ?? rateLimiter.take(principal.id, policiesOf(principal)));
      admit(request, route, principal, decision);
    }

    return (request, _reply, done) => {
      const { headers } = request;
      const partner = isConsole ? undefined : authenticator.findCached(headers.authorization);
      if (!partner) {
        const found = isConsole
          ? authenticator.authenticatePerson(headers, request.ip)
          : authenticator.authenticate(headers, request.ip);
        admitLater(request, found).then(() => done(), done);
        return;
      }
      const taken = rateLimiter.take(partner.id, policiesOf(partner));
      if (taken instanceof Promise) {
        admitLater(request, partner, taken).then(() => done(), done);
        return;
      }
      try {
        admit(request, route, partner, taken);
      } catch (error) {
        return done(error as Error);
      }
      done();
    };
  }

  const refuseUnknown = gateOf(undefined);
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 && isApiPath(request.url)) refuseUnknown(request, reply, done);
    else done();
  });

  for (const route of routes) {
    const ready = readyAnswers(route);
    const run = makeRunner(route, validator, ready, options);
    app.route({
      method: route.method,
      url: route.path,
      config: route.text ? { route, maxBodyBytes: route.text.maxBytes } : { route },
      schema: { response: answerSchemas(route) },
      serializerCompiler: ({ httpStatus }) => lazySerializer(route.responses[Number(httpStatus)] as TSchema),
      // What the router found counts, however the address was written.
      onRequest: gateOf(route),
      handler: (request, reply) => {
        const { principal } = request;
        if (!principal) throw new Error("a call came past the gates");
        const text = ready?.find(request, principal);
        if (text !== undefined) {
          options.leaveWhenDraining(reply);
          writeJson(request, reply, 200, text);
          return;
        }
        const answer = run(request, reply, principal);
        return request.releaseUpload ? answer.finally(request.releaseUpload) : answer;
      },
    });
  }
}

/** Calls of the console are for people alone: a partner token is no session there. */
const isConsoleRoute = ({ path }: Route): boolean => path.startsWith("/console/api/");

/** The path as the router sees it: an address may come in absolute form, and letters of it percent-encoded. */
export function isApiPath(url: string): boolean {
  if (url.startsWith("/api/v1/")) return true;
  const decoded = pathOf(url).replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded.startsWith(`${apiRoot}/`);
}

/** A person is another caller in each organization: the answer of one must not come back in another. */
const keyOwner = (principal: Caller): string =>
  principal.kind === "person" ? principal.person.membershipId : principal.id;

export const policiesOf = (principal: Caller): readonly RatePolicy[] =>
  principal.kind === "partner" ? principal.partner.ratePolicies : personPolicies;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Gate = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;
type Runner = (request: FastifyRequest, reply: FastifyReply, principal: Caller) => Promise<unknown>;

function makeRunner(
  route: Route,
  validator: SchemaChecker,
  ready: ReadyAnswers | undefined,
  options: KernelOptions,
): Runner {
  const { clock, baseUrl } = options;
  const isJson = route.produces === undefined;
  const checkBody: BodyCheck<unknown> | undefined = route.body && lazyBody(validator, route.body);

  /** Steps 8 to 10: object, body, state. */
  async function perform(context: CallContext): Promise<Answer> {
    if (route.load) context.object = await route.load(context);
    if (route.text) context.text = readText(context.request.body as RawBody | undefined, route.text.mediaType);
    const given = checkBody ? await readGiven(context) : undefined;
    if (route.precheck && isRecord(given)) await route.precheck(given, context);
    context.body = checkBody?.(given);
    return route.handle(context);
  }

  async function readGiven(context: CallContext): Promise<unknown> {
    const raw = context.request.body as RawBody | undefined;
    if (!route.file) return readJson(raw);
    const { fields, file } = await readForm(raw, route.file);
    context.file = file;
    return file ? { ...fields, [route.file.field]: file.name } : fields;
  }

  return async (request, reply, principal) => {
    const db = fairDatabase(options.db, options.statements, tenantOf(principal));
    const history = options.history ? historyDatabase(options.history, db, tenantOf(principal)) : db;
    const spread = options.spread ? spreadDatabase(options.spread, db, tenantOf(principal)) : history;
    const call = { db, history, spread, clock, baseUrl };
    const key = route.isIdempotent ? readIdempotencyKey(request.headers["idempotency-key"]) : undefined;
    if (key === undefined) {
      const answer = await perform(new CallContext(route, request, principal, call, undefined));
      const text = isJson ? writtenOf(reply, answer) : undefined;
      if (!text) return send(request, reply, answer);
      ready?.keep(request, principal, text);
      options.leaveWhenDraining(reply);
      return writeJson(request, reply, answer.status, text);
    }

    const scope = {
      principalId: keyOwner(principal),
      method: request.method,
      path: pathOf(request.url).replace(/\/$/, ""),
      key,
      scopes: principal.kind === "partner" ? [...principal.partner.scopes] : [],
    };
    const hash = route.file ? await formHash(request.body as RawBody | undefined, route.file) : bodyHash(request);
    const once = await answerOnce(db, scope, hash, clock.now(), request.id, async (tx: Tx) => {
      const answer = await perform(new CallContext(route, request, principal, call, tx));
      reply.code(answer.status);
      return {
        status: answer.status,
        body: reply.serialize(answer.body) as string,
        contentType: jsonType,
        location: answer.headers?.Location ?? null,
      };
    });
    setApiHeaders(request, reply);
    if (once.isReplay) reply.header("Idempotency-Replayed", "true");
    if (once.location !== null) reply.header("Location", once.location);
    return reply.code(once.status).header("Content-Type", once.contentType).send(once.body);
  };
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

/** Undefined for an answer that the framework has to write: one with headers of its own, without a body, or with text or bytes. */
function writtenOf(reply: FastifyReply, { status, body, headers }: Answer): JsonText | undefined {
  if (headers || !isRecord(body)) return undefined;
  return jsonTextOf(reply.code(status).serialize(body) as string);
}

function send(request: FastifyRequest, reply: FastifyReply, { status, body, headers }: Answer): FastifyReply {
  setApiHeaders(request, reply);
  reply.code(status);
  if (headers) reply.headers(headers);
  return reply.send(body);
}
