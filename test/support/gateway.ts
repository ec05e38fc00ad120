import type { ProtocolDefinition } from "../../src/codecs/protocol-definition.ts";
import type { Fix, TrackerMessage, Vitals } from "../../src/codecs/tracker-message.ts";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { type NodeWaits, NodeWatch } from "../../src/db/node-watch.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { type DeviceServicesOptions, deviceServices } from "../../src/gateway/device-services.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../../src/gateway/gateway.ts";
import type { GatewayLimits } from "../../src/gateway/gateway-limits.ts";
import { type Ingest, makeIngest } from "../../src/ingest/ingest.ts";
import type { IngestOptions } from "../../src/ingest/ingest-options.ts";
import { RuleBook } from "../../src/ingest/rules/rule-book.ts";
import { type Clock, makeClock } from "../../src/lib/clock.ts";
import { makeUuidV7Source, newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import type { Catalog } from "../../src/resources/catalog/catalog.ts";
import { metricRanges } from "../../src/resources/catalog/metric-ranges.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { testCatalog } from "./catalog.ts";
import { createTestDatabase } from "./database.ts";
import { metricOf } from "./metric.ts";
import { testProtocol } from "./test-protocol.ts";
import { openTracker, type Tracker } from "./tracker.ts";

export interface GatewayWorld {
  db: Database;
  url: string;
  clock: Clock;
  organizationId: string;
  /** A registered device; returns its id. */
  addDevice(uid: string, fields?: DeviceFields): Promise<string>;
  /** Beside that of the world; returns its id. */
  addOrganization(): Promise<string>;
  open(options?: GatewayWorldOptions): Promise<TestGateway>;
  close(): Promise<void>;
}

interface DeviceFields {
  protocol?: string;
  model?: string;
  terminalKey?: string;
  organizationId?: string;
}

export interface GatewayWorldOptions {
  limits?: Partial<GatewayLimits>;
  networks?: readonly string[];
  proxyNetworks?: readonly string[];
  protocols?: readonly ProtocolDefinition[];
  udp?: boolean;
  dedicatedPorts?: GatewayOptions["dedicatedPorts"];
  ingest?: Partial<IngestOptions>;
  /** Stands between the gateway and its ingest. */
  wrapIngest?: (ingest: Ingest) => Ingest;
  /** A database of its own, for a gateway that loses it. */
  url?: string;
  clock?: Clock;
  services?: Partial<DeviceServicesOptions>;
  catalog?: Catalog;
  nodeWaits?: Partial<NodeWaits>;
}

export interface TestGateway extends Gateway {
  metrics: Metrics;
  rules: RuleBook;
  tracker(login?: string, from?: string): Promise<Tracker>;
  /** The value of a metric, by the beginning of its line. */
  metric(line: string): number;
}

/** Gateways with the test protocol on a database of their own. Close it in the same file. */
export async function openGatewayWorld(clock: Clock = makeClock()): Promise<GatewayWorld> {
  const database = await createTestDatabase();
  const log = makeLogger((process.env.TEST_LOG as "silent" | undefined) ?? "silent");
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  await maintainPartitions(db, partitionedTables, clock.nowMs());
  const addOrganization = async (slug: string): Promise<string> => {
    const id = newUuid();
    await db.run`
      insert into organizations (id, slug, name, timezone, default_locale, features, per_minute, per_hour, created_at, updated_at)
      values (${id}, ${slug}, 'Gate', 'Europe/Rome', 'it', '{}', 1000, 1000, ${clock.now()}, ${clock.now()})`;
    return id;
  };
  const organizationId = await addOrganization("gate");
  const opened: (() => Promise<void>)[] = [];

  return {
    db,
    url: database.url,
    clock,
    organizationId,
    addOrganization: () => addOrganization(`gate-${newUuid().slice(0, 8)}`),
    addDevice: async (uid, { protocol = "iw", model = "iw-h10", terminalKey, ...fields } = {}) => {
      const id = newUuid();
      const organization = fields.organizationId ?? organizationId;
      await db.run`
        insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, terminal_id, terminal_key,
          timezone, tags, metadata, search, created_at, updated_at)
        values (${id}, ${organization}, ${uid}, 'Watch', ${model}, ${protocol}, ${terminalKey}, ${terminalKey},
          'Europe/Rome', '{}', '{}', '', ${clock.now()}, ${clock.now()})`;
      return id;
    },
    open: async (options = {}) => {
      const own = options.url
        ? openDatabase({ connection: { connectionString: options.url }, log, acquireTimeoutMs: 2000 })
        : db;
      const listener = new Listener(own, log);
      const metrics = new Metrics();
      const rules = new RuleBook({ db: own, listener, log, metrics });
      const catalog = options.catalog ?? testCatalog();
      const nodes = new NodeWatch({ db: own, log, metrics, waits: options.nodeWaits ?? {} });
      const parts = { db: own, nodes, clock: options.clock ?? clock, log, metrics, rules };
      const defaults = { commandAckTimeoutSeconds: 60, commandTtlSeconds: 86_400, deviceMediaMbPerDay: 20, catalog };
      const services = { ...defaults, ...options.services };
      const { steps, downlinks } = deviceServices(services);
      const ingest = makeIngest({
        ...parts,
        newId: makeUuidV7Source(),
        ranges: metricRanges(catalog),
        steps,
        inFlight: 1,
        offlineAfterMs: 600_000,
        carrierName: () => null,
        isLocating: false,
        isGeocoding: false,
        ...options.ingest,
      });
      const gateway = await startGateway({
        ...parts,
        listener,
        catalog,
        protocols: options.protocols ?? [testProtocol()],
        host: "127.0.0.1",
        port: 0,
        udp: options.udp ?? true,
        dedicatedPorts: options.dedicatedPorts ?? [],
        downlinks,
        ingest: options.wrapIngest?.(ingest) ?? ingest,
        networks: options.networks ?? [],
        proxyNetworks: options.proxyNetworks ?? [],
        limits: { sweepEveryMs: 20, drainMs: 2000, ...options.limits },
      });
      await listener.start();
      let isClosed = false;
      const close = async (): Promise<void> => {
        if (isClosed) return;
        isClosed = true;
        await gateway.close();
        await ingest.close();
        nodes.close();
        await listener.close();
        if (own !== db) await own.close();
      };
      opened.push(close);
      const { port } = gateway.address;
      return {
        address: gateway.address,
        ports: gateway.ports,
        isUdpOpen: gateway.isUdpOpen,
        close,
        metrics,
        rules,
        tracker: (login, from) => openTracker(port, login, from),
        metric: (name) => metricOf(metrics, name),
      };
    },
    close: async () => {
      for (const close of opened.reverse()) await close();
      await db.close();
      await database.drop();
    },
  };
}

/** A registered device whose tracker has logged in. */
export async function connectDevice(world: GatewayWorld, gateway: TestGateway, uid: string) {
  const id = await world.addDevice(uid);
  return { uid, id, tracker: await gateway.tracker(uid) };
}

export const gpsFix = (deviceTimeMs: number | null, lat: number, lng: number, more: object = {}): Fix => ({
  kind: "fix",
  deviceTimeMs,
  gps: { lat, lng, altitudeM: null, speedKmh: null, heading: 90, accuracyM: 10, satellites: null, ...more },
  cells: [],
  accessPoints: [],
  network: null,
  isBuffered: false,
});

export const vitals = (metrics: Vitals["metrics"], deviceTimeMs: number | null = null, extra = {}): TrackerMessage => ({
  kind: "vitals",
  deviceTimeMs,
  metrics,
  extra,
});
