import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { buildApp, routeTable } from "./app.ts";
import { VoiceService } from "./audio/voice-service.ts";
import { protocols } from "./codecs/protocols.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./db/database.ts";
import { Listener } from "./db/listener.ts";
import { migrate } from "./db/migrate.ts";
import { openEmbeddedServer } from "./embedded/embedded-server.ts";
import { deviceServices } from "./gateway/device-services.ts";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway/gateway.ts";
import { RateLimiter } from "./http/rate-limit.ts";
import { fencesOfLocated } from "./ingest/rules/located-rules.ts";
import { RuleBook } from "./ingest/rules/rule-book.ts";
import { startRuleWorker } from "./ingest/rules/rule-worker.ts";
import { makeClock } from "./lib/clock.ts";
import { randomToken } from "./lib/ids.ts";
import { Lifecycle, repeat } from "./lib/lifecycle.ts";
import type { Logger } from "./lib/logger.ts";
import { Metrics } from "./lib/metrics.ts";
import { startMailSender } from "./mail/mail-sender.ts";
import { makeDecoyHash } from "./oauth/login.ts";
import { PasswordWork } from "./oauth/password-work.ts";
import { loadSessionKey } from "./oauth/session-tokens.ts";
import { TokenCache } from "./oauth/token-cache.ts";
import { startWebhookPush } from "./outbound/webhook-push.ts";
import { makeOutcomeMetrics } from "./outbox/outcome-metrics.ts";
import { tellLocated } from "./places/located-update.ts";
import { startPlaceWorker } from "./places/place-worker.ts";
import { loadCatalog } from "./resources/catalog/catalog.ts";
import { type CarrierName, loadCarriers } from "./resources/locations/carrier.ts";
import { startSpeechWorker } from "./resources/messages/speech-worker.ts";
import { observeDeviceWork } from "./roles/device-work-gauges.ts";
import { startOpsServer } from "./roles/ops-server.ts";
import { keepPartitions, tablesOf } from "./roles/partitioned-tables.ts";
import { startPeriodicWork } from "./roles/periodic-work.ts";
import { sealPlainSecrets } from "./roles/reseal.ts";
import { openSecretBox, requireFittingKey } from "./roles/secret-key.ts";
import { webhookOptions } from "./roles/webhook-options.ts";

export interface RunningService {
  http: string;
  gateway: string;
  ops: string;
  /** True when no organization exists yet: the operator needs to be told how to begin. */
  isEmpty: boolean;
  close(): Promise<void>;
}

/** The composition root: opens everything in order, and on close undoes it in reverse. */
export async function startService(config: Config, log: Logger): Promise<RunningService> {
  const lifecycle = new Lifecycle(log);
  try {
    return await open(config, log, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function open(config: Config, log: Logger, lifecycle: Lifecycle): Promise<RunningService> {
  const clock = makeClock(config.clockOffsetSeconds);
  const metrics = new Metrics();
  const catalog = loadCatalog();
  const secrets = openSecretBox(config);
  const carrierName = loadCarriers();

  let connection: { connectionString: string } | Awaited<ReturnType<typeof openEmbeddedServer>>["connection"];
  if (config.databaseUrl !== undefined) connection = { connectionString: config.databaseUrl };
  else {
    const server = await openEmbeddedServer({ dataDir: config.dataDir, log, purpose: "service" });
    lifecycle.add("embedded database", () => server.release());
    connection = server.connection;
  }
  const db = openDatabase({ connection, log, poolSize: config.databasePoolSize });
  lifecycle.add("database", () => db.close());
  await migrate(db, clock, ({ version, name }) => log.info({ version, name }, "applying migration"));
  await requireFittingKey(db, secrets, config, clock.now());
  await sealPlainSecrets(db, secrets);
  const tables = tablesOf(config);
  await keepPartitions(db, tables, clock, log);
  observeProcess(metrics);

  let isClosing = false;
  const ops = await startOpsServer({
    port: config.opsPort,
    metrics,
    notReady: async () => {
      if (isClosing) return "shutting down";
      return db.point.one`select 1 as one`.then(
        () => undefined,
        () => "the database does not answer",
      );
    },
  });
  lifecycle.add("ops server", () => ops.close());

  // Every part names its channels before the listener starts.
  const listener = new Listener(db, log);
  lifecycle.add("listener", () => listener.close());

  const rules = new RuleBook({ db, listener, log, metrics });
  lifecycle.add(
    "unused rules",
    repeat("unused rules", 30 * 60_000, log, async () => rules.forgetUnused()),
  );
  // Its threads start with their first job.
  const voice = new VoiceService(config.speech, { metrics });
  lifecycle.add("voice", () => voice.close());

  if (config.roles.includes("worker")) {
    const outcomes = makeOutcomeMetrics(metrics);
    if (voice.speaks) {
      const speech = startSpeechWorker({ db, clock, log, listener, catalog, voice, outcomes });
      lifecycle.add("speech worker", () => speech.close());
    }
    for (const stop of startPeriodicWork(db, clock, log, config, catalog, outcomes))
      lifecycle.add("periodic work", stop);
    lifecycle.add("open work", observeDeviceWork(db, metrics, log, 15_000));
    const timers = startRuleWorker({ db, clock, log, listener, metrics, rules });
    lifecycle.add("rule timers", () => timers.close());
    const { smtpUrl, mailFrom: from } = config;
    const folder = join(config.dataDir, "mail");
    const mails = startMailSender({ db, clock, log, listener, metrics, smtpUrl, from, folder });
    lifecycle.add("mail sender", () => mails.close());
    const push = startWebhookPush({ db, clock, log, listener, metrics, secrets, ...webhookOptions(config) });
    lifecycle.add("webhook push", () => push.close());
    const { geolocateUrl, geocoderUrl } = config;
    if (geolocateUrl !== undefined || geocoderUrl !== undefined) {
      const parts = { db, clock, log, listener, metrics, carrierName, geolocateUrl, geocoderUrl };
      const places = startPlaceWorker({ ...parts, onLocated: fencesOfLocated(rules, clock, tellLocated(clock)) });
      lifecycle.add("place worker", () => places.close());
    }
  }

  let callers: { tokens: TokenCache; rateLimiter: RateLimiter } | undefined;
  if (config.roles.includes("api")) {
    const tokens = new TokenCache(db, listener, clock);
    const rateLimiter = new RateLimiter({ db, clock, listener, log });
    lifecycle.add("rate limiter", () => rateLimiter.close());
    callers = { tokens, rateLimiter };
  }
  let gateway = "off";
  if (config.roles.includes("gateway")) {
    lifecycle.add(
      "partitions",
      repeat("partitions", 3_600_000, log, () => keepPartitions(db, tables, clock, log)),
    );
    const opened = await openGateway(config, carrierName, { db, clock, log, metrics, listener, catalog, rules });
    lifecycle.add("gateway", () => opened.close());
    const { address } = opened;
    gateway = `${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  }
  await listener.start();

  let http = "off";
  if (callers) {
    const { commandAckTimeoutSeconds, commandTtlSeconds } = config;
    const app = buildApp({
      routes: routeTable({
        catalog,
        voice,
        commandAckTimeoutSeconds,
        commandTtlSeconds,
        retentionDays: config.retentionDays,
      }),
      db,
      clock,
      log,
      metrics,
      ...callers,
      sessionKey: await loadSessionKey(db, secrets, clock.now()),
      secrets,
      passwords: new PasswordWork(),
      decoyHash: await makeDecoyHash(randomToken(24)),
      baseUrl: () => config.baseUrl ?? http,
      version: packageVersion(),
      tokenTtlSeconds: config.tokenTtlSeconds,
      trustProxy: config.trustProxy,
    });
    lifecycle.add("http server", () => app.close());
    await app.listen({ host: config.host, port: config.port });
    http = addressOf(config.host, app.server.address() as AddressInfo);
  }

  const { count } = await db.one<{ count: number }>`select count(*) as count from organizations`;
  return {
    http,
    gateway,
    ops: ops.address,
    isEmpty: count === 0,
    close: () => {
      isClosing = true;
      return lifecycle.close();
    },
  };
}

type GatewayParts = Pick<GatewayOptions, "db" | "clock" | "log" | "metrics" | "listener" | "catalog" | "rules">;

function openGateway(config: Config, carrierName: CarrierName, parts: GatewayParts): Promise<Gateway> {
  return startGateway({
    ...parts,
    protocols,
    ...deviceServices(config),
    host: config.gatewayHost,
    port: config.gatewayPort,
    dedicatedPorts: config.gatewayPorts,
    ingest: {
      inFlight: config.ingestInFlight,
      carrierName,
      isLocating: config.geolocateUrl !== undefined,
      isGeocoding: config.geocoderUrl !== undefined,
    },
    limits: {
      idleTimeoutMs: config.gatewayIdleSeconds * 1000,
      connections: config.gatewayMaxConnections,
      connectionsPerAddress: config.gatewayMaxPerAddress,
      newPerAddressPerMinute: config.gatewayNewPerAddress,
    },
  });
}

function observeProcess(metrics: Metrics): void {
  const startedAtSeconds = Math.floor(Date.now() / 1000);
  metrics.gauge("process_start_time_seconds", "Start time of the process.", () => startedAtSeconds);
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  // Time in which nobody was served: the longest since the last look.
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  metrics.gauge("vigil_event_loop_delay_seconds", "Longest delay of the event loop since the last scrape.", () => {
    const seconds = delays.max / 1e9;
    delays.reset();
    return seconds;
  });
  metrics.gauge("process_cpu_seconds", "User and system CPU time spent.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}

function addressOf(host: string, { port }: AddressInfo): string {
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as { version: string }).version;
