import { protocols } from "../codecs/protocols.ts";
import { deviceServices } from "../gateway/device-services.ts";
import { startGateway } from "../gateway/gateway.ts";
import { defaultLimits } from "../gateway/gateway-limits.ts";
import { makeIngest } from "../ingest/ingest.ts";
import { makeUuidV7Source } from "../lib/ids.ts";
import { repeat } from "../lib/lifecycle.ts";
import { metricRanges } from "../resources/catalog/metric-ranges.ts";
import { DiskFloor } from "./disk-floor.ts";
import { keepPartitions, tablesOf } from "./partitioned-tables.ts";
import { dividedLimits } from "./process-plan.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Transactions of packets and logins, and the lanes of commands and messages. */
const devicePoolSize = 6;

/** Where every protocol is spoken; `off` where nothing listens. */
export interface GatewayAddresses {
  gateway: string;
  udp: string;
}

/** Devices: their sockets, and the ingest that stores what they send. */
export async function openGatewayRole(parts: ServiceParts): Promise<GatewayAddresses> {
  const { config, lifecycle, clock, log, metrics, listener, catalog, carrierName, rules, nodes } = parts;
  // Logins and packets never wait for connections that searches or background work hold.
  const db = parts.openDatabase({ poolSize: devicePoolSize });
  const tables = tablesOf(config);
  lifecycle.add(
    "partitions",
    repeat("partitions", 3_600_000, log, () => keepPartitions(db, tables, clock, log, parts.retention)),
  );
  const floor = await watchDisk(parts);
  const { steps, downlinks } = deviceServices({ ...config, catalog });
  const ingest = makeIngest({
    db,
    nodes,
    clock,
    log,
    metrics,
    rules,
    steps,
    takesOnlyAlarms: () => floor?.isReached === true,
    waits: parts.packetWaits,
    newId: makeUuidV7Source(),
    ranges: metricRanges(catalog),
    inFlight: config.ingestInFlight,
    offlineAfterMs: config.offlineAfterSeconds * 1000,
    carrierName,
    isLocating: config.geolocateUrl !== undefined,
    isGeocoding: config.geocoderUrl !== undefined,
    tracer: parts.tracer,
  });
  lifecycle.add("ingest", () => ingest.close());
  const gateway = await startGateway({
    nodeId: parts.processId,
    db,
    nodes,
    clock,
    log,
    metrics,
    listener,
    catalog,
    rules,
    ingest,
    downlinks,
    protocols,
    host: config.gatewayHost,
    port: config.gatewayPort,
    udp: config.gatewayUdp,
    dedicatedPorts: config.gatewayPorts,
    networks: config.gatewayNetworks,
    proxyNetworks: config.gatewayProxyNetworks,
    limits: {
      ...dividedLimits(
        {
          ...defaultLimits,
          connections: config.gatewayMaxConnections,
          connectionsPerAddress: config.gatewayMaxPerAddress,
          newPerAddressPerMinute: config.gatewayNewPerAddress,
        },
        parts.gateways,
      ),
      idleTimeoutMs: config.gatewayIdleSeconds * 1000,
      packetsPerMinute: config.gatewayPacketsPerMinute,
      packetBurst: 2 * config.gatewayPacketsPerMinute,
    },
  });
  lifecycle.add("gateway", () => gateway.close());
  const { address, family, port } = gateway.address;
  const spoken = `${family === "IPv6" ? `[${address}]` : address}:${port}`;
  return { gateway: spoken, udp: gateway.isUdpOpen ? spoken : "off" };
}

/** The disk of an external database is not ours to see. */
async function watchDisk({ config, log, metrics, lifecycle }: ServiceParts): Promise<DiskFloor | undefined> {
  if (config.databaseUrl !== undefined || config.diskFloorMb === 0) return undefined;
  const floorBytes = config.diskFloorMb * 1024 * 1024;
  const floor = new DiskFloor({ folder: config.dataDir, floorBytes, log, metrics });
  await floor.check();
  lifecycle.add(
    "disk floor",
    repeat("disk floor", 2000, log, () => floor.check()),
  );
  return floor;
}
