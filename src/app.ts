import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { makeConsolePage } from "./console/console-page.ts";
import { consoleRoutes, registerConsoleEntry } from "./console/console-routes.ts";
import type { OperatorServices } from "./console/operator/operator-services.ts";
import { isMissingPage, registerConsolePages } from "./console/page-routes.ts";
import { LiveHub } from "./console/stream/live-hub.ts";
import type { Database } from "./db/database.ts";
import { baseHeaders, jsonType, setApiHeaders } from "./http/answer-headers.ts";
import { Authenticator, type CredentialHeaders } from "./http/authenticate.ts";
import { pathOf } from "./http/call-context.ts";
import { registerDocs } from "./http/docs-pages.ts";
import { closeWhileDraining } from "./http/draining.ts";
import { errorBodyFor, toApiError } from "./http/error-body.ts";
import type { StatementShares } from "./http/fair-database.ts";
import { registerFavicon } from "./http/favicon.ts";
import { passGates } from "./http/gates.ts";
import type { HistoryReads, SpreadReads } from "./http/history-database.ts";
import { isApiPath, policiesOf, registerRoutes } from "./http/kernel.ts";
import { describeApi } from "./http/openapi.ts";
import type { RateLimiter } from "./http/rate-limit.ts";
import { rateHeaders } from "./http/rate-limit-window.ts";
import type { Route } from "./http/route.ts";
import { traceCalls } from "./http/traced-calls.ts";
import { Uploads } from "./http/uploads.ts";
import type { Clock } from "./lib/clock.ts";
import { type ApiError, notFound, throttled } from "./lib/errors.ts";
import { makeUuidV7Texts, uuidV7 } from "./lib/ids.ts";
import type { Logger } from "./lib/logger.ts";
import { entryOf, type Metrics } from "./lib/metrics.ts";
import type { SecretBox } from "./lib/secret-box.ts";
import { registerOAuthRoutes } from "./oauth/oauth-routes.ts";
import type { PasswordWork } from "./oauth/password-work.ts";
import type { TokenCache } from "./oauth/token-cache.ts";
import { replayRoutes } from "./outbound/replay-routes.ts";
import type { TestEventParts } from "./outbound/test-event.ts";
import { describeWebhooks } from "./outbound/webhook-description.ts";
import { assignmentRoutes } from "./resources/assignments/assignment-routes.ts";
import { auditRoutes } from "./resources/audit/audit-routes.ts";
import type { Catalog } from "./resources/catalog/catalog.ts";
import { catalogRoutes } from "./resources/catalog/catalog-routes.ts";
import { commandRoutes } from "./resources/commands/command-routes.ts";
import { deviceRoutes } from "./resources/devices/device-routes.ts";
import { ecgRoutes } from "./resources/ecg/ecg-routes.ts";
import { eventRoutes } from "./resources/events/event-routes.ts";
import { geofenceRoutes } from "./resources/geofences/geofence-routes.ts";
import { invitationRoutes } from "./resources/invitations/invitation-routes.ts";
import { shareRoutes } from "./resources/invitations/share-routes.ts";
import { locationRoutes } from "./resources/locations/location-routes.ts";
import { messageRoutes } from "./resources/messages/message-routes.ts";
import type { VoiceTools } from "./resources/messages/voice-tools.ts";
import { organizationRoutes } from "./resources/organizations/organization-routes.ts";
import { telemetryRoutes } from "./resources/telemetry/telemetry-routes.ts";
import { thresholdRoutes } from "./resources/thresholds/threshold-routes.ts";
import { removeDevice } from "./resources/use-cases/device-removal.ts";
import { withdrawInvitations } from "./resources/use-cases/withdrawn-invitations.ts";
import { userRoutes } from "./resources/users/user-routes.ts";
import type { Tracer } from "./tracing/tracer.ts";

export interface AppOptions {
  /** The surface; see routeTable. */
  routes: readonly Route[];
  db: Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  tokens: TokenCache;
  rateLimiter: RateLimiter;
  /** Shares of organizations in running statements. */
  statements: StatementShares;
  /** A replica for long reads; absent: there is none. */
  history?: HistoryReads | undefined;
  /** The workers of a distributed database; absent: none are named. */
  spread?: SpreadReads | undefined;
  sessionKey: Buffer;
  /** Of secrets that are read back. */
  secrets: SecretBox;
  passwords: PasswordWork;
  catalog: Catalog;
  /** How webhooks are checked and called, for the test of one. */
  webhooks: TestEventParts["webhooks"];
  /** What operators see and do beyond the database. */
  operations: OperatorServices;
  decoyHash: string;
  /** Where the map of the console comes from; absent or empty: the outline of the world. */
  mapStyleUrl?: string;
  /** Known only once the server listens, when no base URL is configured. */
  baseUrl: () => string;
  /** The configured base URL, which the description names. */
  publicUrl?: string | undefined;
  version: string;
  tokenTtlSeconds: number;
  trustProxy: readonly string[];
  /** A line at info for successful calls too; absent: at debug. */
  logsEveryCall?: boolean;
  tracer?: Tracer | undefined;
}

export interface RouteTableOptions {
  catalog: Catalog;
  voice: VoiceTools;
  commandAckTimeoutSeconds: number;
  commandTtlSeconds: number;
  retentionDays?: number;
}

/** The whole partner surface. What is not in this table does not exist for a partner. */
export function routeTable(options: RouteTableOptions): Route[] {
  return [
    ...organizationRoutes(),
    ...catalogRoutes(options.catalog, options.commandAckTimeoutSeconds),
    ...assignmentRoutes(),
    ...shareRoutes(),
    ...invitationRoutes(),
    ...auditRoutes(),
    ...userRoutes(withdrawInvitations),
    ...deviceRoutes(options.catalog, options.commandAckTimeoutSeconds, removeDevice),
    ...locationRoutes(),
    ...telemetryRoutes(),
    ...ecgRoutes(),
    ...eventRoutes(),
    ...geofenceRoutes(),
    ...thresholdRoutes(),
    ...messageRoutes({ catalog: options.catalog, voice: options.voice, ttlSeconds: options.commandTtlSeconds }),
    ...commandRoutes(options.catalog, options.commandTtlSeconds),
    ...replayRoutes(options.retentionDays ?? 30),
  ];
}

export function buildApp(options: AppOptions): FastifyInstance {
  const { db, clock, log } = options;
  const newId = makeUuidV7Texts();
  const app = fastify({
    loggerInstance: childless(log),
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 20_000 },
    exposeHeadRoutes: false,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    requestTimeout: 30_000,
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, clock),
    keepAliveTimeout: 65_000,
    genReqId: (request) => requestId(request.headers["x-request-id"]) ?? newId(clock.nowMs()),
    frameworkErrors: (_error, request, reply) => {
      // A path that cannot be decoded has no route; under the API it is outside the surface like any other.
      const url = request.raw.url ?? "";
      const headers: Record<string, string> = { ...baseHeaders(request.id), "content-type": jsonType };
      refuseUnrouted(url, request.headers, request.ip, headers).catch((refusal: unknown) => {
        const error = toApiError(refusal);
        leaveWhenDraining(reply);
        reply.raw.writeHead(error.status, { ...headers, ...error.headers });
        reply.raw.end(JSON.stringify(errorBodyFor(request.method, pathOf(url), error, request.id)));
      });
    },
  });

  const authenticator = new Authenticator({ db, tokens: options.tokens, sessionKey: options.sessionKey, clock });

  /** The gates for a path without a route. It counts as a call like any other, and `headers` get what it leaves of the quota. */
  async function refuseUnrouted(
    url: string,
    credentials: CredentialHeaders,
    address: string,
    headers: Record<string, string>,
  ): Promise<never> {
    if (!isApiPath(url)) throw notFound();
    const principal = await authenticator.authenticate(credentials, address);
    const decision = await options.rateLimiter.take(principal.id, policiesOf(principal));
    Object.assign(headers, rateHeaders(decision));
    if (!decision.allowed) throw throttled(decision.waitSeconds, decision.violated);
    passGates(undefined, principal);
    throw notFound();
  }

  const uploads = new Uploads();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (request: FastifyRequest, payload: IncomingMessage) =>
    uploads.collect(request, payload),
  );
  if (options.tracer) traceCalls(app, options.tracer);
  const leaveWhenDraining = closeWhileDraining(app);

  app.addHook("onRequest", (request, reply, done) => {
    // The kernel writes those of its own routes with the rest of the answer.
    if (!request.routeOptions.config.route) reply.headers(baseHeaders(request.id));
    // The framework would answer a malformed media type by itself, before object and caller are looked at.
    const type = request.headers["content-type"];
    if (type !== undefined && !/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+ *(;.*)?$/.test(type)) {
      request.headers["content-type"] = "application/x-malformed";
    }
    done();
  });
  observe(app, options);

  const { tokens, tokenTtlSeconds } = options;
  registerOAuthRoutes(app, { db, clock, tokens, tokenTtlSeconds, baseUrl: options.baseUrl });
  const { rateLimiter, sessionKey, secrets, passwords, decoyHash, baseUrl, catalog, webhooks, operations } = options;
  const hub = new LiveHub({ db, clock, log, metrics: options.metrics });
  // A server waits for its answers to end, and a stream has no end of its own.
  app.addHook("preClose", () => hub.close());
  const forPeople = consoleRoutes({ db, clock, passwords, secrets, baseUrl, hub, catalog, webhooks, operations });
  registerRoutes(app, [...options.routes, ...forPeople], {
    db,
    clock,
    authenticator,
    rateLimiter,
    statements: options.statements,
    history: options.history,
    spread: options.spread,
    baseUrl,
    leaveWhenDraining,
  });
  const page = makeConsolePage({ mapStyleUrl: options.mapStyleUrl ?? "" });
  registerConsoleEntry(app, { db, clock, sessionKey, secrets, passwords, decoyHash, baseUrl, page });
  registerFavicon(app);
  registerConsolePages(app, page);
  const { routes, version, publicUrl } = options;
  registerDocs(app, () => describeApi(routes, { version, serverUrl: publicUrl, webhooks: describeWebhooks() }));

  app.setNotFoundHandler((request, reply) => {
    // Under the API the gates have already answered; here is everything else.
    if (isMissingPage(request)) return page.send(request, reply, 404);
    throw notFound();
  });

  app.setErrorHandler((error: Error, request, reply) => {
    const apiError = toApiError(fromFramework(error));
    if (apiError.status >= 500) {
      log.error({ err: error, request_id: request.id, route: request.routeOptions.url }, "a call failed");
    }
    if (request.routeOptions.config.route || request.rateDecision) setApiHeaders(request, reply);
    if (apiError.status === 413) reply.header("Connection", "close");
    return reply
      .code(apiError.status)
      .headers(apiError.headers)
      .type(jsonType)
      .send(JSON.stringify(errorBodyFor(request.method, pathFound(request), apiError, request.id)));
  });
  return app;
}

/** Lines name the request themselves; a logger for each call, or a look at whether it is one, would cost more than the gates. */
function childless(log: Logger): FastifyBaseLogger {
  const logger = log.child({}) as FastifyBaseLogger;
  logger.child = () => logger;
  return logger;
}

/** What the router found, however the address was written; an unknown address as it came. */
const pathFound = (request: FastifyRequest): string => request.routeOptions.url ?? pathOf(request.url);

/** Errors of the framework itself about a request that no route could take; the rest is left as it is. */
function fromFramework(error: Error): Error | ApiError {
  const status = "statusCode" in error ? error.statusCode : undefined;
  return status === 404 && "code" in error && String(error.code).startsWith("FST_") ? notFound() : error;
}

/** The id that the caller gave, if it is one. */
const requestId = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : undefined;

/** What the parser of HTTP itself refuses never becomes a request; its answer looks like every other. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const id = uuidV7(clock.nowMs());
  const body = JSON.stringify({
    code: isTooLarge ? "payload_too_large" : "parse_error",
    detail: isTooLarge ? "The address or the headers are too long." : "The request is not valid HTTP.",
    request_id: id,
  });
  const status = isTooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request";
  const headers = {
    ...baseHeaders(id),
    "content-type": jsonType,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${head.join("")}\r\n${body}`);
}

function observe(app: FastifyInstance, { metrics, log, logsEveryCall = false }: AppOptions): void {
  const requests = metrics.counter("vigil_http_requests_total", "HTTP requests by route, method and status.");
  const durations = metrics.histogram(
    "vigil_http_request_seconds",
    "Time from the request to the end of the answer.",
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  );
  type Series = { count: () => void; observe: (seconds: number) => void };
  // By route, then method, then status: a key put together of them would be made and hashed with each call.
  const seriesOf = new Map<string, Map<string, Map<number, Series>>>();
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    const { method } = request;
    const status = reply.statusCode;
    const ms = reply.elapsedTime;
    const byMethod = entryOf(seriesOf, route, () => new Map<string, Map<number, Series>>());
    const byStatus = entryOf(byMethod, method, () => new Map<number, Series>());
    const series = entryOf(byStatus, status, () => ({
      count: requests.at({ route, method, status }),
      observe: durations.at({ route }),
    }));
    series.count();
    series.observe(ms / 1000);
    // Successes are counted; a line for each costs a sixth of the answer, so an operator has to want them.
    const level = status < 400 && !logsEveryCall ? "debug" : "info";
    if (log.isLevelEnabled(level)) {
      const { principal, ip } = request;
      const organization = principal?.kind === "operator" ? undefined : principal?.organization.slug;
      const caller = principal && { principal: principal.id, organization };
      log[level](
        { request_id: request.id, route, method, status, ms: Math.round(ms * 10) / 10, address: ip, ...caller },
        "request",
      );
    }
    done();
  });
}
