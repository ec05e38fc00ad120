import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ProtocolDefinition } from "../codecs/protocol-definition.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { Database } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { NodeWatch } from "../db/node-watch.ts";
import type { DeviceHold } from "../ingest/device-memory.ts";
import type { Ingest } from "../ingest/ingest.ts";
import type { RuleBook } from "../ingest/rules/rule-book.ts";
import type { Clock } from "../lib/clock.ts";
import { newUuid } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import { NetworkList } from "../lib/network-list.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { Admissions } from "./admissions.ts";
import { Connection } from "./connection.ts";
import type { ConnectionHost } from "./connection-host.ts";
import type { ConnectionSocket } from "./connection-socket.ts";
import type { DeviceLink, DownlinkHost, DownlinkLane, MakeDownlinkLane } from "./downlink.ts";
import { defaultLimits, type GatewayLimits } from "./gateway-limits.ts";
import { type GatewayMetrics, makeGatewayMetrics } from "./gateway-metrics.ts";
import { PeerLimits } from "./peer-limits.ts";
import { ProxiedSockets } from "./proxied-sockets.ts";
import { SessionConflicts } from "./session-conflicts.ts";
import { SessionRegistry } from "./session-registry.ts";
import { Sweep } from "./sweep.ts";
import { TenantBudgets } from "./tenant-budgets.ts";
import { UdpGateway, type UdpGatewayHost } from "./udp-gateway.ts";
import { makeUdpMetrics } from "./udp-metrics.ts";
import { UnknownDevices } from "./unknown-devices.ts";

export interface GatewayOptions {
  /** Under which its connections stand in the database; one of its own unless given. */
  nodeId?: string;
  db: Database;
  /** On a distributed database devices whose node is away are not let in. */
  nodes?: NodeWatch;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Not yet started: the gateway names its channel. */
  listener: Listener;
  catalog: Catalog;
  protocols: readonly ProtocolDefinition[];
  host: string;
  port: number;
  /** Datagrams on the same port numbers, where a protocol speaks UDP. */
  udp: boolean;
  /** Ports that speak one protocol only. */
  dedicatedPorts: readonly { protocol: string; port: number }[];
  /** Drained by the gateway before its connections end; who made it closes it after. */
  ingest: Ingest;
  rules: RuleBook;
  /** Who speaks to devices. */
  downlinks: readonly MakeDownlinkLane[];
  /** Networks in CIDR form; the gateway is closed to all others. None: it is open to all. */
  networks?: readonly string[];
  /** Networks of proxies that begin each connection with a header of the PROXY protocol. None: nobody does. */
  proxyNetworks?: readonly string[];
  limits?: Partial<GatewayLimits>;
}

export interface Gateway {
  /** Where every protocol is spoken. */
  address: AddressInfo;
  /** By protocol. */
  ports: ReadonlyMap<string, number>;
  /** Whether datagrams are taken. */
  isUdpOpen: boolean;
  close(): Promise<void>;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new TcpGateway(options);
  try {
    await gateway.start();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return gateway;
}

/** The listeners are functions shared by all sockets; each socket knows its connection. */
interface DeviceSocket extends Socket {
  vigil: Connection;
}
function onData(this: Socket, chunk: Buffer): void {
  (this as DeviceSocket).vigil.onData(chunk);
}
function onEnd(this: Socket): void {
  (this as DeviceSocket).vigil.onEnd();
}
function onDrain(this: Socket): void {
  (this as DeviceSocket).vigil.onDrain();
}
function onClose(this: Socket): void {
  (this as DeviceSocket).vigil.onClosed();
}
/** The close that follows says all there is. */
function onError(): void {}

class TcpGateway implements Gateway, ConnectionHost, UdpGatewayHost {
  readonly protocols: readonly ProtocolDefinition[];
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly ingest: Ingest;
  readonly ports = new Map<string, number>();
  address: AddressInfo = { address: "", family: "", port: 0 };
  isUdpOpen = false;
  isFull = false;
  readonly #options: GatewayOptions;
  readonly #servers: Server[] = [];
  readonly #connections = new Set<Connection>();
  readonly #byDevice = new Map<string, Connection>();
  readonly #udp: UdpGateway;
  readonly peers: PeerLimits;
  readonly admissions: Admissions;
  readonly #tenants: TenantBudgets;
  readonly #networks: NetworkList;
  readonly #proxied: ProxiedSockets;
  readonly #conflicts: SessionConflicts;
  readonly #unknown: UnknownDevices;
  readonly #sessions: SessionRegistry;
  readonly #downlinks: readonly DownlinkLane[];
  #sweeps: readonly { stop(): void }[] = [];

  constructor(options: GatewayOptions) {
    const { db, clock, log, metrics, listener, catalog } = options;
    this.#options = options;
    // Datagrams have sockets of their own.
    this.protocols = options.protocols.filter(({ transports }) => transports.some((one) => one !== "udp"));
    this.limits = { ...defaultLimits, ...options.limits };
    this.clock = clock;
    this.log = log;
    const slugs = options.protocols.map(({ slug }) => slug);
    this.metrics = makeGatewayMetrics(metrics, slugs, {
      connections: () => this.#connections.size,
      devices: () => this.#byDevice.size,
      paused: () => Number(this.isFull),
      unlogged: () => this.peers.unloggedCount,
      slowedNetworks: () => this.admissions.throttle.slowedCount,
      waitingLogins: () => this.admissions.throttle.waitingCount,
      undecodedBytes: () => this.#tenants.undecodedBytes,
    });
    this.#udp = new UdpGateway(this, options.protocols, (peers) => makeUdpMetrics(metrics, peers));
    this.ingest = options.ingest;
    this.ingest.onSettled(() => this.checkRoom());
    this.peers = new PeerLimits(this.limits);
    this.#tenants = new TenantBudgets(this.limits, () => this.#updateReading());
    this.#networks = new NetworkList(options.networks ?? []);
    this.#proxied = new ProxiedSockets({
      networks: options.proxyNetworks ?? [],
      maxWaiting: this.limits.unlogged,
      timeoutMs: this.limits.proxyHeaderTimeoutMs,
    });
    this.#conflicts = new SessionConflicts(db, clock, log, () => this.metrics.takenOver());
    this.#unknown = new UnknownDevices(db, clock, log);
    const onOvertaken = (deviceId: string, epoch: number): void => {
      const connection = this.#byDevice.get(deviceId);
      if (connection?.hold && connection.hold.epoch < epoch) connection.destroy("overtaken");
    };
    const onWake = (deviceId: string): void => {
      const link = this.linkOf(deviceId);
      if (link) for (const lane of this.#downlinks) lane.onWake(link);
    };
    const nodeId = options.nodeId ?? newUuid();
    const openSessions = () =>
      [...this.#byDevice.values()].flatMap(({ hold }) =>
        hold ? [{ deviceId: hold.device.id, epoch: hold.epoch }] : [],
      );
    this.#sessions = new SessionRegistry({ db, clock, log, listener, nodeId, openSessions, onOvertaken, onWake });
    this.admissions = new Admissions({
      db,
      nodes: options.nodes,
      clock,
      catalog,
      rules: options.rules,
      limits: this.limits,
      tenants: this.#tenants,
      sessions: this.#sessions,
      conflicts: this.#conflicts,
      unknown: this.#unknown,
      metrics: this.metrics,
      isClosedNetwork: !this.#networks.isEmpty,
    });
    const host: DownlinkHost = {
      db,
      clock,
      log,
      metrics,
      catalog,
      nodeId,
      links: () => this.#byDevice.values(),
      linkOf: (deviceId) => this.linkOf(deviceId),
    };
    this.#downlinks = options.downlinks.map((make) => make(host));
  }

  linkOf(deviceId: string): DeviceLink | undefined {
    const connection = this.#byDevice.get(deviceId);
    return connection?.isOpen ? connection : undefined;
  }

  ready(connection: Connection): void {
    for (const lane of this.#downlinks) lane.onOpen(connection);
  }

  onMessages(connection: Connection, messages: readonly TrackerMessage[]): void {
    for (const lane of this.#downlinks) lane.onMessages(connection, messages);
  }

  async start(): Promise<void> {
    const { port, dedicatedPorts } = this.#options;
    await this.#sessions.start();
    this.isUdpOpen = this.#options.udp && this.#udp.isNeeded;
    this.address = await this.#listenBoth(port, undefined);
    for (const { protocol, port: own } of dedicatedPorts) {
      const definition = this.#options.protocols.find(({ slug }) => slug === protocol);
      if (!definition) throw new Error(`VIGIL_GATEWAY_PORTS: there is no protocol "${protocol}"`);
      this.ports.set(protocol, (await this.#listenBoth(own, definition)).port);
    }
    const { sweepEveryMs } = this.limits;
    this.#sweeps = [
      new Sweep(
        () => this.#connections.values(),
        sweepEveryMs,
        (connection, nowMs) => connection.checkTimes(nowMs),
      ),
      new Sweep(
        () => this.#udp.peers(),
        sweepEveryMs,
        (peer, nowMs) => this.#udp.checkTime(peer, nowMs),
      ),
      this.admissions.startPruning((deviceId) => this.#byDevice.has(deviceId)),
    ];
  }

  /** TCP, and UDP on the same number where it is spoken. */
  async #listenBoth(port: number, protocol: ProtocolDefinition | undefined): Promise<AddressInfo> {
    const address = await this.#listen(port, protocol);
    if (!this.isUdpOpen || (protocol && !this.#udp.speaks(protocol.slug))) return address;
    try {
      await this.#udp.listen(address.address, address.port, protocol?.slug);
    } catch (error) {
      // A port that the system chose is free for TCP only.
      if (port !== 0 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      this.#servers.pop()?.close();
      return this.#listenBoth(port, protocol);
    }
    return address;
  }

  #listen(port: number, protocol: ProtocolDefinition | undefined): Promise<AddressInfo> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const accept = (address: string): void => this.#accept(socket, address, protocol);
      if (!this.#proxied.includes(socket)) accept(socket.remoteAddress ?? "");
      else this.#proxied.await(socket, accept, () => this.metrics.closed("proxy_header"));
    });
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: this.#options.host, port, backlog: 4096 }, () => {
        server.off("error", reject);
        server.on("error", (error) => this.log.error({ err: error }, "the gateway cannot accept a connection"));
        resolve(server.address() as AddressInfo);
      });
    });
  }

  #accept(socket: Socket, address: string, protocol: ProtocolDefinition | undefined): void {
    const connection = this.openConnection(socket, address, protocol);
    if (!connection) {
      socket.destroy();
      return;
    }
    (socket as DeviceSocket).vigil = connection;
    socket.on("data", onData).on("end", onEnd).on("drain", onDrain).on("close", onClose).on("error", onError);
    connection.updateReading();
  }

  openConnection(
    socket: ConnectionSocket,
    remoteAddr: string,
    protocol: ProtocolDefinition | undefined,
  ): Connection | undefined {
    const isAllowed = this.#networks.isEmpty || this.#networks.includes(remoteAddr);
    const connection = new Connection(this, socket, remoteAddr, protocol);
    const refusal = isAllowed ? this.peers.admit(connection, performance.now()) : "network";
    if (refusal) {
      this.metrics.closed(refusal);
      return undefined;
    }
    this.metrics.opened();
    this.#connections.add(connection);
    return connection;
  }

  onOpen(connection: Connection, hold: DeviceHold): boolean {
    const { id } = hold.device;
    const other = this.#byDevice.get(id);
    const isNewest = !other?.hold || other.hold.epoch < hold.epoch;
    if (isNewest) this.#byDevice.set(id, connection);
    const loser = isNewest ? other : connection;
    if (loser?.hold) loser.hold.state = "over";
    loser?.destroy("overtaken");
    return isNewest;
  }

  onClose(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    // What it left undecoded may have been all that was waited for.
    this.checkRoom();
    const { hold } = connection;
    if (!hold) return;
    if (this.#byDevice.get(hold.device.id) === connection) this.#byDevice.delete(hold.device.id);
    this.#sessions.end(hold.device.id, hold.epoch);
    for (const lane of this.#downlinks) lane.onClose(connection);
  }

  /** Stops all reading when too much waits, and takes it up again at the half. */
  checkRoom(): void {
    const { queuedFrames, queuedBytes } = this.ingest;
    const bytes = queuedBytes + this.#tenants.undecodedBytes;
    const share = Math.max(queuedFrames / this.limits.queuedFrames, bytes / this.limits.queuedBytes);
    const isFull = this.isFull ? share > 0.5 : share >= 1;
    if (isFull === this.isFull) return;
    this.isFull = isFull;
    this.#updateReading();
  }

  #updateReading(): void {
    for (const connection of this.#connections) connection.updateReading();
  }

  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
    this.#proxied.close();
    this.#udp.stop();
    for (const connection of this.#connections) connection.close("shutdown");
    await this.ingest.drain(this.limits.drainMs);
    for (const sweep of this.#sweeps) sweep.stop();
    const deadlineMs = performance.now() + 1000;
    while (this.#connections.size > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const connection of this.#connections) connection.destroy("shutdown");
    this.admissions.throttle.close();
    this.#udp.close();
    const lanes = this.#downlinks.map((lane) => lane.close());
    const others = [this.#unknown.close(), this.#sessions.close(), this.#conflicts.close()];
    const ended = await Promise.allSettled([...lanes, ...others]);
    for (const result of ended) {
      if (result.status === "rejected") this.log.warn({ err: result.reason }, "the gateway did not close cleanly");
    }
  }
}
