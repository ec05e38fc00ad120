import { readFileSync } from "node:fs";
import { join } from "node:path";
import { VoiceService } from "./audio/voice-service.ts";
import type { Config } from "./config.ts";
import { type DatabaseOptions, openDatabase } from "./db/database.ts";
import { Listener } from "./db/listener.ts";
import { migrate } from "./db/migrate.ts";
import { isNodeFailure, NodeWatch } from "./db/node-watch.ts";
import { holdSchema } from "./db/schema-hold.ts";
import type { EmbeddedConnection } from "./embedded/embedded-server.ts";
import { RuleBook } from "./ingest/rules/rule-book.ts";
import { makeClock } from "./lib/clock.ts";
import { newUuid } from "./lib/ids.ts";
import { Lifecycle, repeat } from "./lib/lifecycle.ts";
import type { Logger } from "./lib/logger.ts";
import { lowerPriority } from "./lib/low-priority.ts";
import { Metrics } from "./lib/metrics.ts";
import { RecentWaits } from "./lib/recent-waits.ts";
import { loadCatalog } from "./resources/catalog/catalog.ts";
import { loadCarriers } from "./resources/locations/carrier.ts";
import { openApiRole } from "./roles/api-role.ts";
import { openGatewayRole } from "./roles/gateway-role.ts";
import { keepHeapSmall } from "./roles/heap-at-rest.ts";
import { setHeapFlags } from "./roles/heap-flags.ts";
import { openTracer } from "./roles/open-tracer.ts";
import { startOpsServer } from "./roles/ops-server.ts";
import { openOwnDatabase } from "./roles/own-database.ts";
import { keepPartitions, tablesOf } from "./roles/partitioned-tables.ts";
import { observeProcess } from "./roles/process-gauges.ts";
import { registerProcess } from "./roles/process-registry.ts";
import { sealPlainSecrets } from "./roles/reseal.ts";
import { RetentionGuard } from "./roles/retention-guard.ts";
import { openSecretBox, requireFittingKey } from "./roles/secret-key.ts";
import type { ServiceParts } from "./roles/service-parts.ts";
import { openWorkerRole } from "./roles/worker-role.ts";
import type { Tracer } from "./tracing/tracer.ts";

export interface RunningService {
  http: string;
  gateway: string;
  /** Of the gateway, on the same port number. */
  udp: string;
  ops: string;
  /** True when no organization exists yet: the operator needs instructions to begin. */
  isEmpty: boolean;
  metrics: Metrics;
  /** Undefined when it is ready, else the reason. */
  notReady(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Of a process that is one of several: health and metrics are its supervisor's, and so is the embedded database. */
export interface SupervisedParts {
  connection: EmbeddedConnection | undefined;
  /** Gateways that share the limits of the port. */
  gateways: number;
}

/** Connections of the pool for work in the background. */
const backgroundPoolSize = 6;

/** The composition root: opens everything in order, and on close undoes it in reverse. */
export async function startService(config: Config, log: Logger, supervised?: SupervisedParts): Promise<RunningService> {
  setHeapFlags();
  const lifecycle = new Lifecycle(log);
  try {
    return await open(config, log, lifecycle, supervised);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function open(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  supervised: SupervisedParts | undefined,
): Promise<RunningService> {
  const clock = makeClock(config.clockOffsetSeconds);
  const metrics = new Metrics();
  const processId = newUuid();
  const version = packageVersion();
  const tracer = openTracer({ config, lifecycle, log, metrics, processId, version });
  const openDatabase = await findServiceDatabase(config, log, lifecycle, supervised?.connection, tracer);
  // Not before: an embedded database would inherit it.
  if (config.roles.every((role) => role === "worker")) lowerPriority(config.workerNice);
  const db = openDatabase({ poolSize: backgroundPoolSize });
  await migrate(db, clock, ({ version, name }) => log.info({ version, name }, "applying migration"));
  lifecycle.add("hold on the schema", await holdSchema(db, log));
  const secrets = openSecretBox(config);
  await requireFittingKey(db, secrets, config, clock.now());
  await sealPlainSecrets(db, secrets);
  const retention = new RetentionGuard(clock, log, metrics);
  await keepPartitions(db, tablesOf(config), clock, log, retention).catch((error: unknown) => {
    // They are made weeks ahead, and each role tries again every hour.
    if (!isNodeFailure(error)) throw error;
    log.warn({ err: (error as Error).message }, "a node of the database is away; partitions are kept up later");
  });

  observeProcess(metrics);
  // Ready is who takes traffic: a balancer must not send a call before the last role listens.
  let phase: "starting" | "running" | "shutting down" = "starting";
  const notReady = async (): Promise<string | undefined> => {
    if (phase !== "running") return phase;
    return db.point.one`select 1 as one`.then(
      () => undefined,
      () => "the database does not answer",
    );
  };
  const render = async (): Promise<string> => metrics.render();
  const ops = supervised ? undefined : await startOpsServer({ port: config.opsPort, render, notReady });
  lifecycle.add("ops server", () => ops?.close());

  const nodes = new NodeWatch({ db, log, metrics });
  lifecycle.add("watch over database nodes", () => nodes.close());
  // Every part names its channels before the listener starts.
  const listener = new Listener(db, log);
  lifecycle.add("listener", () => listener.close());
  const rules = new RuleBook({ db, listener, log, metrics });
  lifecycle.add(
    "unused rules",
    repeat("unused rules", 30 * 60_000, log, async () => rules.forgetUnused()),
  );
  // Its processes start with their first job.
  const voice = new VoiceService(config.speech, { metrics });
  lifecycle.add("voice", () => voice.close());

  let address = `http://127.0.0.1:${config.port}`;
  const baseUrl = (): string => config.baseUrl ?? address;
  const packetWaits = new RecentWaits();
  const opened = { db, nodes, openDatabase, listener, secrets, rules, voice, retention, packetWaits, tracer };
  const gateways = supervised?.gateways ?? 1;
  const shared = { processId, version, config, lifecycle, clock, log, metrics, gateways, baseUrl, ...opened };
  const parts = { ...shared, catalog: loadCatalog(), carrierName: loadCarriers() };
  if (config.roles.includes("worker")) openWorkerRole(parts);
  const api = config.roles.includes("api") ? openApiRole(parts) : undefined;
  const isGateway = config.roles.includes("gateway");
  const { gateway, udp } = isGateway ? await openGatewayRole(parts) : { gateway: "off", udp: "off" };
  await listener.start();
  const { roles } = config;
  lifecycle.add("process registry", registerProcess({ id: processId, db, clock, log, metrics, version, roles }));
  const http = (await api?.listen()) ?? "off";
  if (api) address = http;

  const { count } = await db.one<{ count: number }>`select count(*) as count from organizations`;
  phase = "running";
  lifecycle.add("heap at rest", keepHeapSmall());
  return {
    http,
    gateway,
    udp,
    ops: ops?.address ?? "off",
    isEmpty: count === 0,
    metrics,
    notReady,
    close: () => {
      phase = "shutting down";
      return lifecycle.close();
    },
  };
}

const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as { version: string }).version;

type OpenDatabase = ServiceParts["openDatabase"];

/** Opens connections to the database that is configured, or to the embedded one. */
async function findServiceDatabase(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  embedded: EmbeddedConnection | undefined,
  tracer: Tracer | undefined,
): Promise<OpenDatabase> {
  const opener =
    (connection: DatabaseOptions["connection"]): OpenDatabase =>
    (options) => {
      const db = openDatabase({ connection, log, tracer, ...options });
      lifecycle.add("database", () => db.close());
      return db;
    };
  if (config.databaseUrl !== undefined) return opener({ connectionString: config.databaseUrl });
  return opener(embedded ?? (await openOwnDatabase(config, log, lifecycle)));
}
