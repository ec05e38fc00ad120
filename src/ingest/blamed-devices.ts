import type { Packet } from "./packet.ts";

const blameMs = 10 * 60_000;
const maxDevices = 10_000;

/**
 * Devices that had a packet which failed alone. What they send next is stored apart from the others for a while, so that a
 * device which sends such packets again and again costs nobody else the search for them.
 */
export class BlamedDevices {
  readonly #until = new Map<string, number>();

  add({ hold }: Packet, nowMs: number): void {
    if (this.#until.size >= maxDevices) this.#until.clear();
    this.#until.set(hold.device.id, nowMs + blameMs);
  }

  clear({ hold }: Packet): void {
    this.#until.delete(hold.device.id);
  }

  /** The packets of the others, and those of blamed devices; both in their order. */
  divide(packets: readonly Packet[], nowMs: number): { clean: Packet[]; blamed: Packet[] } {
    if (this.#until.size === 0) return { clean: [...packets], blamed: [] };
    const isBlamed = ({ hold }: Packet): boolean => (this.#until.get(hold.device.id) ?? 0) > nowMs;
    return { clean: packets.filter((one) => !isBlamed(one)), blamed: packets.filter(isBlamed) };
  }
}
