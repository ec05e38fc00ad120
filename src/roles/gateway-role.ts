import { protocols } from "../codecs/protocols.ts";
import { deviceServices } from "../gateway/device-services.ts";
import { startGateway } from "../gateway/gateway.ts";
import { makeIngest } from "../ingest/ingest.ts";
import { makeUuidV7Source } from "../lib/ids.ts";
import { repeat } from "../lib/lifecycle.ts";
import { metricRanges } from "../resources/catalog/metric-ranges.ts";
import { keepPartitions, tablesOf } from "./partitioned-tables.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Transactions of packets and logins, and the lanes of commands and messages. */
const devicePoolSize = 6;

/** Devices: their sockets, and the ingest that stores what they send. Returns where every protocol is spoken. */
export async function openGatewayRole(parts: ServiceParts): Promise<string> {
  const { config, lifecycle, clock, log, metrics, listener, catalog, carrierName, rules } = parts;
  // Logins and packets never wait for connections that searches or background work hold.
  const db = parts.openDatabase({ poolSize: devicePoolSize });
  const tables = tablesOf(config);
  lifecycle.add(
    "partitions",
    repeat("partitions", 3_600_000, log, () => keepPartitions(db, tables, clock, log)),
  );
  const { steps, downlinks } = deviceServices(config);
  const ingest = makeIngest({
    db,
    clock,
    log,
    metrics,
    rules,
    steps,
    newId: makeUuidV7Source(),
    ranges: metricRanges(catalog),
    inFlight: config.ingestInFlight,
    carrierName,
    isLocating: config.geolocateUrl !== undefined,
    isGeocoding: config.geocoderUrl !== undefined,
  });
  lifecycle.add("ingest", () => ingest.close());
  const gateway = await startGateway({
    db,
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
    dedicatedPorts: config.gatewayPorts,
    limits: {
      idleTimeoutMs: config.gatewayIdleSeconds * 1000,
      connections: config.gatewayMaxConnections,
      connectionsPerAddress: config.gatewayMaxPerAddress,
      newPerAddressPerMinute: config.gatewayNewPerAddress,
    },
  });
  lifecycle.add("gateway", () => gateway.close());
  const { address, family, port } = gateway.address;
  return `${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
