import type { NodeWatch } from "../db/node-watch.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { DeviceHold } from "./device-memory.ts";
import { isUrgent, type Outcome, type Packet } from "./packet.ts";

/** Far below what the gateway takes of one organization: devices that can be stored are read on. */
const maxPackets = 2000;
const maxBytes = 4 * 1024 * 1024;
/** Alarms find room when the others have none. */
const reserve = 1.25;

export interface PacketsApartOptions {
  nodes: Pick<NodeWatch, "isWhole" | "isKnownAway" | "findAway" | "noteFailure" | "onChange">;
  metrics: Metrics;
  settle(packets: readonly Packet[], outcome: Outcome): void;
  /** Takes them before what waits. */
  putBack(packets: readonly Packet[]): void;
}

/**
 * Packets of devices whose rows are on a node of the database that does not answer. They wait apart, in their order and
 * unanswered, so that the batches of all others can be stored, and come back when the node does. What is too much is not
 * answered either: its device sends it again.
 */
export class PacketsApart {
  readonly #options: PacketsApartOptions;
  #packets: Packet[] = [];
  #bytes = 0;
  readonly #holds = new Set<DeviceHold>();
  #isClosed = false;

  constructor(options: PacketsApartOptions) {
    this.#options = options;
    options.nodes.onChange(() => this.#release());
    options.metrics.gauge(
      "vigil_ingest_apart_packets",
      "Packets that wait unanswered because the node of a distributed database that has their device does not answer.",
      () => this.count,
    );
  }

  get count(): number {
    return this.#packets.length;
  }

  /** Sets packets apart, and returns the others. Those of a device that has some here follow them at once, or they would overtake. */
  async divide(packets: readonly Packet[]): Promise<readonly Packet[]> {
    const { nodes } = this.#options;
    if (nodes.isWhole && this.#holds.size === 0) return packets;
    const others = this.#setApart(packets, ({ hold }) => this.#holds.has(hold));
    if (nodes.isWhole) return others;
    // Should the coordinator be away too, the attempt to store them finds out.
    await nodes.findAway(idsOf(others)).catch(() => undefined);
    return this.#setApart(others, ({ hold }) => nodes.isKnownAway(hold.device.id));
  }

  /** After an attempt that has stored nothing. Undefined: no node is to blame. */
  async isolate(packets: readonly Packet[], error: unknown): Promise<readonly Packet[] | undefined> {
    const { nodes } = this.#options;
    await nodes.noteFailure(error);
    const away = await nodes.findAway(idsOf(packets));
    return away.size === 0 ? undefined : this.#setApart(packets, ({ hold }) => nodes.isKnownAway(hold.device.id));
  }

  /** Hands out what waits; nothing waits here after it. */
  close(): Packet[] {
    this.#isClosed = true;
    return this.#takeAll();
  }

  #setApart(packets: readonly Packet[], isApart: (packet: Packet) => boolean): readonly Packet[] {
    const others: Packet[] = [];
    const refused: Packet[] = [];
    for (const packet of packets) {
      if (!isApart(packet)) others.push(packet);
      else if (!this.#add(packet)) refused.push(packet);
    }
    this.#options.settle(refused, this.#isClosed ? "lost" : "deferred");
    return others;
  }

  #add(packet: Packet): boolean {
    const share = isUrgent(packet) ? reserve : 1;
    if (this.#isClosed || this.count >= maxPackets * share || this.#bytes >= maxBytes * share) return false;
    this.#packets.push(packet);
    this.#bytes += packet.frame.raw.length;
    this.#holds.add(packet.hold);
    return true;
  }

  /** Those that are still to wait are set apart again. */
  #release(): void {
    if (this.count > 0) this.#options.putBack(this.#takeAll());
  }

  #takeAll(): Packet[] {
    const packets = this.#packets;
    this.#packets = [];
    this.#bytes = 0;
    this.#holds.clear();
    return packets;
  }
}

const idsOf = (packets: readonly Packet[]): string[] => [...new Set(packets.map(({ hold }) => hold.device.id))];
