import type { VoiceService } from "../audio/voice-service.ts";
import type { Config } from "../config.ts";
import type { Database, DatabaseOptions } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { NodeWatch } from "../db/node-watch.ts";
import type { RuleBook } from "../ingest/rules/rule-book.ts";
import type { Clock } from "../lib/clock.ts";
import type { Lifecycle } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { RecentWaits } from "../lib/recent-waits.ts";
import type { SecretBox } from "../lib/secret-box.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import type { CarrierName } from "../resources/locations/carrier.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { RetentionGuard } from "./retention-guard.ts";

/** What the roles of one process share. A role adds what it opens to the lifecycle. */
export interface ServiceParts {
  /** Of this process: what it holds in the database, it holds under this id. */
  processId: string;
  version: string;
  config: Config;
  lifecycle: Lifecycle;
  /** For work in the background; calls and devices have connections of their own. */
  db: Database;
  nodes: NodeWatch;
  /** More connections to the same database, so that one role cannot take those of another. */
  openDatabase(options: Pick<DatabaseOptions, "poolSize" | "statementTimeoutMs">): Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Starts when every role is open: each names its channels before. */
  listener: Listener;
  catalog: Catalog;
  carrierName: CarrierName;
  /** Seals and opens secrets that are kept in the database. */
  secrets: SecretBox;
  rules: RuleBook;
  voice: VoiceService;
  retention: RetentionGuard;
  /** Of packets in this process, for work that gives way to them. */
  packetWaits: RecentWaits;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
  /** Gateways behind one port, which share its limits. */
  gateways: number;
  /** Where people reach the service: as configured, else where this process or one with its settings listens. */
  baseUrl: () => string;
}
