import type { FastifyInstance } from "fastify";
import { buildApp, routeTable } from "../../src/app.ts";
import type { SpeechSetting } from "../../src/audio/speech-provider.ts";
import { VoiceService } from "../../src/audio/voice-service.ts";
import { loadConfig } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { makeStatementShares } from "../../src/http/fair-database.ts";
import { RateLimiter } from "../../src/http/rate-limit.ts";
import type { Route } from "../../src/http/route.ts";
import { type Clock, makeClock } from "../../src/lib/clock.ts";
import { type Logger, makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import type { Actor } from "../../src/oauth/actor.ts";
import { makeDecoyHash } from "../../src/oauth/login.ts";
import { PasswordWork } from "../../src/oauth/password-work.ts";
import { loadSessionKey } from "../../src/oauth/session-tokens.ts";
import { TokenCache } from "../../src/oauth/token-cache.ts";
import { makeOperatorServices } from "../../src/roles/operator-services.ts";
import { testCatalog } from "./catalog.ts";
import { createTestDatabase, makeWipe } from "./database.ts";
import { makeAnswerCheck, type SeenAnswer } from "./description.ts";
import { testSecrets } from "./secrets.ts";

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface TestAnswer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  // Answers are held against the description; what a test reads from them it states itself.
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into arbitrary JSON
  body: any;
}

export interface TestApi {
  app: FastifyInstance;
  db: Database;
  url: string;
  clock: Clock;
  /** Calls the API in process and holds the answer against the served description. */
  call(method: string, path: string, options?: CallOptions): Promise<TestAnswer>;
  close(): Promise<void>;
}

export const baseUrl = "https://vigil.example";

export const cliActor = (organizationId: string): Actor => ({
  organizationId,
  by: { type: "system", via: "cli" },
  correlationId: null,
  remoteAddr: null,
});

export interface TestApiOptions {
  clock?: Clock;
  routes?: readonly Route[];
  /** A database that somebody else has made, and drops. */
  url?: string;
  speech?: SpeechSetting;
  retentionDays?: number;
  /** Proxies whose X-Forwarded-For counts; together with isPrivate. */
  trustProxy?: readonly string[];
  logsEveryCall?: boolean;
  /** Where the application logs to; together with isPrivate. */
  log?: Logger;
  /** The authority of webhook receivers. */
  extraCa?: string;
  /** An application and a database of its own: for a file that counts whole tables, breaks the database or fills limits of the address. */
  isPrivate?: boolean;
}

/**
 * The whole HTTP surface. The files of a worker share one application, database and answer check, one file after the other:
 * a file makes its own organization, and its rows are gone when it closes. Close it in the same file.
 */
export async function openTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const clock = options.clock ?? makeClock();
  const isSpecial =
    options.isPrivate ||
    options.routes ||
    options.url !== undefined ||
    options.speech ||
    options.retentionDays ||
    options.extraCa;
  if (isSpecial || worker.isTaken) return openApplication({ ...options, clock });
  worker.isTaken = true;
  worker.clock = clock;
  worker.api ??= openShared({ now: () => worker.clock.now(), nowMs: () => worker.clock.nowMs() });
  const { api, wipe } = await worker.api;
  const close = async (): Promise<void> => {
    await wipe();
    worker.isTaken = false;
  };
  return { ...api, clock, close };
}

/** What the files of a worker share. It ends with the worker; the database goes with the test server. */
const worker: {
  api: ReturnType<typeof openShared> | undefined;
  isTaken: boolean;
  clock: Clock;
  decoyHash: Promise<string> | undefined;
  checks: Map<string, (answer: SeenAnswer) => void>;
} = { api: undefined, isTaken: false, clock: makeClock(), decoyHash: undefined, checks: new Map() };

async function openShared(clock: Clock) {
  const api = await openApplication({ clock });
  return { api, wipe: await makeWipe(api.url) };
}

async function openApplication(options: TestApiOptions & { clock: Clock }): Promise<TestApi> {
  const { clock } = options;
  const database = options.url ? { url: options.url, drop: async () => {} } : await createTestDatabase();
  const log = options.log ?? makeLogger("silent");
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  const listener = new Listener(db, log);
  const tokens = new TokenCache(db, listener, clock);
  const rateLimiter = new RateLimiter({ db, clock, listener, log });
  await listener.start();
  const voice = new VoiceService(options.speech ?? { kind: "espeak" });
  const retention = options.retentionDays ? { retentionDays: options.retentionDays } : {};
  const times = { commandAckTimeoutSeconds: 60, commandTtlSeconds: 86_400 };
  const catalog = testCatalog();
  const table = routeTable({ catalog, voice, ...times, ...retention });
  worker.decoyHash ??= makeDecoyHash("decoy");
  const app = buildApp({
    routes: [...table, ...(options.routes ?? [])],
    db,
    clock,
    log,
    metrics: new Metrics(),
    tokens,
    rateLimiter,
    statements: makeStatementShares(10),
    sessionKey: await loadSessionKey(db, testSecrets, clock.now()),
    secrets: testSecrets,
    catalog,
    webhooks: { timeoutMs: 2000, allowCidrs: ["127.0.0.0/8"], extraCa: options.extraCa },
    operations: makeOperatorServices({ db, clock, log, config: loadConfig({}, { DATABASE_URL: database.url }) }),
    passwords: new PasswordWork(),
    decoyHash: await worker.decoyHash,
    baseUrl: () => baseUrl,
    version: "0.0.0",
    tokenTtlSeconds: 3600,
    trustProxy: options.trustProxy ?? [],
    logsEveryCall: options.logsEveryCall ?? false,
  });
  const description = await app.inject({ method: "GET", url: "/api/schema/?format=json" });
  const check = worker.checks.get(description.body) ?? makeAnswerCheck(description.json());
  worker.checks.set(description.body, check);

  const call: TestApi["call"] = async (method, path, { token, body, headers = {} } = {}) => {
    const answer = await app.inject({
      method: method as "GET",
      url: path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || typeof body === "string" ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const contentType = answer.headers["content-type"] as string | undefined;
    check({ method, path, status: answer.statusCode, contentType, text: answer.body });
    const isJson = contentType?.startsWith("application/json") && answer.body !== "";
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.body,
      body: isJson ? answer.json() : undefined,
    };
  };

  return {
    app,
    db,
    url: database.url,
    clock,
    call,
    close: async () => {
      await app.close();
      await voice.close();
      await rateLimiter.close();
      await listener.close();
      await db.close();
      await database.drop();
    },
  };
}
