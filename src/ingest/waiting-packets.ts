import { type BatchLimits, chooseBatch } from "./batch-choice.ts";
import type { DeviceHold } from "./device-memory.ts";
import { isUrgent, type Packet } from "./packet.ts";

/** Packets that wait for a transaction, in the order of submission. */
export class WaitingPackets {
  readonly #limits: BatchLimits;
  #packets: Packet[] = [];
  #bytes = 0;
  #urgentCount = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#packets.length;
  }

  get hasUrgent(): boolean {
    return this.#urgentCount > 0;
  }

  add(packet: Packet): void {
    this.#packets.push(packet);
    this.#count([packet], 1);
  }

  /** At the front, as they were. */
  putBack(packets: readonly Packet[]): void {
    this.#packets.unshift(...packets);
    this.#count(packets, 1);
  }

  /** All that waits, or a fair choice of it. */
  take(isBusy?: (hold: DeviceHold) => boolean, isUrgentOnly = false): Packet[] {
    const fits = this.#packets.length <= this.#limits.packets && this.#bytes <= this.#limits.bytes;
    if (fits && !isBusy) return this.takeAll();
    const options = { limits: this.#limits, isBusy: isBusy ?? (() => false), isUrgentOnly };
    const { taken, kept } = chooseBatch(this.#packets, options);
    this.#packets = kept;
    this.#count(taken, -1);
    return taken;
  }

  takeAll(): Packet[] {
    const all = this.#packets;
    this.#packets = [];
    this.#bytes = 0;
    this.#urgentCount = 0;
    return all;
  }

  #count(packets: readonly Packet[], sign: 1 | -1): void {
    for (const packet of packets) {
      this.#bytes += sign * packet.frame.raw.length;
      if (isUrgent(packet)) this.#urgentCount += sign;
    }
  }
}
