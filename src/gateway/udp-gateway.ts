import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { ProtocolDefinition } from "../codecs/protocol-definition.ts";
import { StreamDecoder } from "../codecs/stream-decoder.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionSocket } from "./connection-socket.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import { recognize } from "./recognition.ts";
import type { DropReason, UdpMetrics } from "./udp-metrics.ts";
import { UdpPeer, type UdpPeerHost } from "./udp-peer.ts";

/** What the gateway lends its UDP ports. */
export interface UdpGatewayHost {
  readonly limits: GatewayLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly isFull: boolean;
  /** Undefined: there are too many, in all or of this address. */
  openConnection(
    socket: ConnectionSocket,
    remoteAddr: string,
    protocol: ProtocolDefinition | undefined,
  ): Connection | undefined;
}

interface Sender {
  socket: Socket;
  /** Unique among the ports of this gateway. */
  endpoint: string;
  remote: RemoteInfo;
}

/**
 * UDP: a device behind an address is a connection with the same login, session, ingest and answers as over TCP. It begins with a
 * datagram that names the device and ends when the address is no longer fresh. A datagram that names another device, as when a
 * network has given the address to somebody else, belongs to another connection.
 */
export class UdpGateway implements UdpPeerHost {
  readonly #host: UdpGatewayHost;
  readonly #protocols: readonly ProtocolDefinition[];
  readonly #metrics: UdpMetrics;
  readonly #sockets: Socket[] = [];
  readonly #peers = new Map<string, UdpPeer>();
  /** The last one of each endpoint: frames without an id are its. */
  readonly #latest = new Map<string, UdpPeer>();
  #waitingBytes = 0;
  /** Peers whose login is being looked up. */
  #unsettled = 0;

  constructor(
    host: UdpGatewayHost,
    protocols: readonly ProtocolDefinition[],
    makeMetrics: (peers: () => number) => UdpMetrics,
  ) {
    this.#host = host;
    this.#protocols = protocols.filter(({ transports }) => transports.includes("udp"));
    this.#metrics = makeMetrics(() => this.#peers.size);
  }

  speaks(protocol: string): boolean {
    return this.#protocols.some(({ slug }) => slug === protocol);
  }

  get isNeeded(): boolean {
    return this.#protocols.length > 0;
  }

  /** Of one protocol, or of all. */
  listen(address: string, port: number, protocol?: string): Promise<void> {
    const spoken = this.#protocols.filter(({ slug }) => protocol === undefined || slug === protocol);
    const socket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4" });
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.bind({ address, port, exclusive: true }, () => {
        socket.off("error", reject);
        socket.on("error", (error) => this.#host.log.error({ err: error }, "a UDP port of the gateway failed"));
        const name = this.#sockets.push(socket);
        socket.on("message", (datagram, remote) => {
          const endpoint = `${name} ${remote.address} ${remote.port}`;
          this.#receive(datagram, spoken, { socket, endpoint, remote });
        });
        resolve();
      });
    });
  }

  #receive(datagram: Buffer, spoken: readonly ProtocolDefinition[], sender: Sender): void {
    this.#metrics.received();
    const reason = this.#take(datagram, spoken, sender);
    if (reason !== undefined) this.#metrics.dropped(reason);
  }

  #take(datagram: Buffer, spoken: readonly ProtocolDefinition[], sender: Sender): DropReason | undefined {
    if (datagram.length > this.#host.limits.datagramBytes) return "too_large";
    const recognized = recognize(spoken, datagram);
    // What is too short to say is a sign of life, if anybody has spoken from there.
    const protocol = typeof recognized === "object" ? recognized : this.#lastSpoken(sender.endpoint);
    if (!protocol) return "unrecognized";
    let wireId: string | undefined;
    try {
      wireId = this.#idIn(datagram, protocol);
    } catch (error) {
      this.#host.log.error({ err: error, protocol: protocol.slug }, "a codec failed");
      return "codec_error";
    }
    const peer = this.#find(sender.endpoint, protocol, wireId);
    if (peer) return peer.receive(datagram) ? undefined : "waiting_limit";
    if (wireId === undefined) return "no_login";
    if (this.#host.isFull) return "gateway_full";
    return this.#open(sender, protocol, wireId)?.receive(datagram) ? undefined : "peer_limit";
  }

  /** Who the datagram says it is from, read as the first of a connection. */
  #idIn(datagram: Buffer, protocol: ProtocolDefinition): string | undefined {
    const decoder = new StreamDecoder(protocol);
    decoder.push(datagram);
    const session = { nowMs: this.#host.clock.nowMs(), device: undefined, memory: new Map<string, string>() };
    const login = decoder.decode(session).frames.at(0)?.messages.at(-1);
    return login?.kind === "login" ? login.id : undefined;
  }

  #lastSpoken(endpoint: string): ProtocolDefinition | undefined {
    const slug = this.#latest.get(endpoint)?.connection?.protocol;
    return this.#protocols.find((one) => one.slug === slug);
  }

  #find(endpoint: string, protocol: ProtocolDefinition, wireId: string | undefined): UdpPeer | undefined {
    const known = wireId === undefined ? undefined : this.#peers.get(keyOf(endpoint, protocol, wireId));
    if (known) return isTaking(known) ? known : undefined;
    const latest = this.#latest.get(endpoint);
    if (!latest || !isTaking(latest) || latest.connection?.protocol !== protocol.slug) return undefined;
    return wireId === undefined || isNameOf(latest.connection, protocol, wireId) ? latest : undefined;
  }

  #open({ socket, endpoint, remote }: Sender, protocol: ProtocolDefinition, wireId: string): UdpPeer | undefined {
    const { limits } = this.#host;
    // Datagrams with invented addresses must not push out devices: those that are looked up at once are few.
    if (this.#unsettled >= limits.unsettledPeers) return undefined;
    const names = { key: keyOf(endpoint, protocol, wireId), endpoint };
    const peer = new UdpPeer(this, socket, remote, names, limits.waitingDatagrams);
    peer.connection = this.#host.openConnection(peer, remote.address, protocol);
    if (!peer.connection) return undefined;
    this.#unsettled++;
    this.#peers.set(peer.key, peer);
    this.#latest.set(endpoint, peer);
    return peer;
  }

  reserve(bytes: number): boolean {
    if (this.#waitingBytes + bytes > this.#host.limits.waitingDatagramBytes) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  settled(): void {
    this.#unsettled--;
  }

  incomplete(protocol: string): void {
    this.#host.metrics.problems(protocol, 1);
  }

  closed(peer: UdpPeer): void {
    if (this.#peers.get(peer.key) === peer) this.#peers.delete(peer.key);
    if (this.#latest.get(peer.endpoint) === peer) this.#latest.delete(peer.endpoint);
  }

  peers(): Iterator<UdpPeer> {
    return this.#peers.values();
  }

  /** Called by the gateway's sweep: what is sent to an address that is not fresh would be lost. */
  checkTime({ connection, lastDatagramAtMs }: UdpPeer, nowMs: number): void {
    // A login that is being looked up has a limit of its own.
    const isStale = nowMs - lastDatagramAtMs > this.#host.limits.addressFreshMs;
    if (isStale && connection?.state === "open") connection.close("idle");
  }

  /** Reads no more. */
  stop(): void {
    for (const socket of this.#sockets) socket.removeAllListeners("message");
  }

  /** Last: answers to what waits are sent until then. */
  close(): void {
    for (const socket of this.#sockets) socket.close();
  }
}

const keyOf = (endpoint: string, { slug }: ProtocolDefinition, wireId: string): string =>
  `${endpoint} ${slug} ${wireId}`;

const isTaking = ({ connection }: UdpPeer): boolean =>
  connection !== undefined && connection.state !== "closing" && connection.state !== "closed";

/** A device may write its IMEI in one kind of frame and its terminal id in another. */
function isNameOf(connection: Connection, { terminalIds }: ProtocolDefinition, wireId: string): boolean {
  const device = connection.sessionDevice;
  if (!device) return false;
  const names = [device.id, device.imei, terminalIds.defaultFor(device.imei)];
  return names.some((name) => name !== null && terminalIds.compareKey(name) === terminalIds.compareKey(wireId));
}
