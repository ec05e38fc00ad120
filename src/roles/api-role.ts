import type { AddressInfo } from "node:net";
import { buildApp, routeTable } from "../app.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { HotServers } from "../db/hot-servers.ts";
import { ReadReplica } from "../db/read-replica.ts";
import { makeStatementShares } from "../http/fair-database.ts";
import type { HistoryReads, SpreadReads } from "../http/history-database.ts";
import { RateLimiter } from "../http/rate-limit.ts";
import { randomToken } from "../lib/ids.ts";
import { makeDecoyHash } from "../oauth/login.ts";
import { PasswordWork } from "../oauth/password-work.ts";
import { loadSessionKey } from "../oauth/session-tokens.ts";
import { TokenCache } from "../oauth/token-cache.ts";
import { makeOperatorServices } from "./operator-services.ts";
import type { ServiceParts } from "./service-parts.ts";
import { webhookOptions } from "./webhook-options.ts";

export interface ApiRole {
  /** Takes calls; to be called when the listener runs. Returns the address. */
  listen(): Promise<string>;
}

/** The HTTP API. Tokens and quotas are heard of by notification, so they are opened before the listener starts. */
export function openApiRole({ config, lifecycle, ...parts }: ServiceParts): ApiRole {
  const { clock, log, metrics, listener, catalog, secrets, voice, version } = parts;
  const poolSize = config.databasePoolSize;
  const db = parts.openDatabase({ poolSize, statementTimeoutMs: config.statementTimeoutSeconds * 1000 });
  const tokens = new TokenCache(db, listener, clock);
  const rateLimiter = new RateLimiter({ db, clock, listener, log });
  lifecycle.add("rate limiter", () => rateLimiter.close());

  const history = openHistory({ config, lifecycle, ...parts }, db);
  const spread = openSpread({ config, lifecycle, ...parts }, db);

  return {
    listen: async () => {
      let address = "";
      const { commandAckTimeoutSeconds, commandTtlSeconds, retentionDays, tokenTtlSeconds, trustProxy } = config;
      const app = buildApp({
        routes: routeTable({ catalog, voice, commandAckTimeoutSeconds, commandTtlSeconds, retentionDays }),
        db,
        clock,
        log,
        metrics,
        tokens,
        rateLimiter,
        statements: makeStatementShares(poolSize),
        history,
        spread,
        sessionKey: await loadSessionKey(db, secrets, clock.now()),
        secrets,
        mapStyleUrl: config.mapStyleUrl,
        catalog,
        webhooks: webhookOptions(config),
        operations: makeOperatorServices({ db: parts.db, clock, log, config }),
        passwords: new PasswordWork(),
        decoyHash: await makeDecoyHash(randomToken(24)),
        baseUrl: () => config.baseUrl ?? address,
        publicUrl: config.baseUrl,
        version,
        tokenTtlSeconds,
        trustProxy,
        logsEveryCall: config.accessLog,
        tracer: parts.tracer,
      });
      lifecycle.add("http server", () => app.close());
      await app.listen({ host: config.host, port: config.port });
      address = addressOf(config.host, app.server.address() as AddressInfo);
      return address;
    },
  };
}

/** A replica has as many connections for calls as the main database. */
function openHistory({ config, lifecycle, log, metrics }: ServiceParts, main: Database): HistoryReads | undefined {
  const { databaseReadUrl: connectionString, databasePoolSize: poolSize, statementTimeoutSeconds } = config;
  if (connectionString === undefined) return undefined;
  const statementTimeoutMs = statementTimeoutSeconds * 1000;
  // The server ends a statement itself, unless it stands still.
  const connection = { connectionString, query_timeout: statementTimeoutMs + 2000 };
  const db = openDatabase({ connection, log, poolSize, statementTimeoutMs });
  lifecycle.add("read replica", () => db.close());
  const replica = new ReadReplica({ main, replica: db, log, metrics });
  return { replica, db, statements: makeStatementShares(poolSize) };
}

/** Each worker has as many connections for calls as the main database. */
function openSpread({ config, lifecycle, log, metrics }: ServiceParts, main: Database): SpreadReads | undefined {
  const { databaseHotUrls: urls, databasePoolSize: poolSize, statementTimeoutSeconds } = config;
  if (urls.length === 0) return undefined;
  const statementTimeoutMs = statementTimeoutSeconds * 1000;
  const servers = urls.map((connectionString) => {
    const connection = { connectionString, query_timeout: statementTimeoutMs + 2000 };
    const db = openDatabase({ connection, log, poolSize, statementTimeoutMs });
    lifecycle.add("worker of the database", () => db.close());
    return { name: new URL(connectionString).host, db };
  });
  return {
    servers: new HotServers({ main, servers, log, metrics }),
    statements: makeStatementShares(poolSize * servers.length),
  };
}

function addressOf(host: string, { port }: AddressInfo): string {
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}
