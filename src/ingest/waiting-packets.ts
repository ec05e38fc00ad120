import type { DeviceHold } from "./device-memory.ts";
import { isUrgent, type Packet } from "./packet.ts";

export interface BatchLimits {
  packets: number;
  /** Of their frames. */
  bytes: number;
}

/**
 * What waits of one device. It stays with the hold. A table that a Map or Set has outgrown points to what it held and to the table
 * after it: once one is in V8's old generation, all later ones follow it there, with the lines in them. Lines that were made for each
 * packet took half of all packets along, until the next major collection (measured).
 */
export interface WaitingLine {
  readonly hold: DeviceHold;
  packets: Packet[];
  /** Packets up to and including the last one with an alarm. */
  urgentCount: number;
  /** For the batch that is being chosen. */
  taken: number;
}

const none: Packet[] = [];

/** What a device may give before it is the next one's turn. */
const turnBytes = 16 * 1024;

/**
 * Packets that wait for a transaction. When not all of them fit into the next one, those with an alarm go first; the rest is shared
 * between organizations, and within an organization between its devices, so that one sender of large or many packets delays mostly
 * itself. Packets of one device keep their order: those before an alarm go with it. Choosing costs as much as what is chosen,
 * however much waits.
 */
export class WaitingPackets {
  readonly #limits: BatchLimits;
  /** The lines of each organization; the next one to take from comes first. */
  readonly #rings = new Map<string, Set<WaitingLine>>();
  readonly #urgent = new Set<WaitingLine>();
  #count = 0;
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  get hasUrgent(): boolean {
    return this.#urgent.size > 0;
  }

  add(packet: Packet): void {
    const line = this.#append(packet);
    this.#count++;
    this.#bytes += packet.frame.raw.length;
    if (!isUrgent(packet)) return;
    line.urgentCount = line.packets.length;
    this.#urgent.add(line);
  }

  /** Before those of their devices that came later. */
  putBack(packets: readonly Packet[]): void {
    const later = new Map<DeviceHold, Packet[]>();
    for (const { hold } of packets) {
      if (later.has(hold)) continue;
      const { line } = hold;
      later.set(hold, line && line.packets.length > 0 ? this.#remove(line, line.packets.length) : []);
    }
    for (const packet of packets) this.add(packet);
    for (const rest of later.values()) for (const packet of rest) this.add(packet);
  }

  /** The packets of each device follow one another. `isBusy`: another transaction is storing packets of the device. */
  take(isBusy: (hold: DeviceHold) => boolean = () => false, isUrgentOnly = false): Packet[] {
    const budget = { ...this.#limits };
    const touched = new Set<WaitingLine>();
    if (this.#urgent.size > 0) takeInTurns(ringsOf(this.#urgent), budget, touched, isBusy, urgentOf);
    if (!isUrgentOnly) takeInTurns([...this.#rings.values()], budget, touched, isBusy, allOf);
    const taken: Packet[] = [];
    for (const line of touched) for (const packet of this.#remove(line, line.taken)) taken.push(packet);
    return taken;
  }

  takeAll(): Packet[] {
    const all: Packet[] = [];
    for (const ring of [...this.#rings.values()]) {
      for (const line of [...ring]) all.push(...this.#remove(line, line.packets.length));
    }
    return all;
  }

  #append(packet: Packet): WaitingLine {
    const { hold } = packet;
    hold.line ??= { hold, packets: none, urgentCount: 0, taken: 0 };
    const { line } = hold;
    if (line.packets.length > 0) {
      line.packets.push(packet);
      return line;
    }
    // Most devices have one packet waiting: pushed to an empty array, it would make room for seventeen.
    line.packets = [packet];
    const ring = this.#rings.get(hold.device.organizationId);
    if (ring) ring.add(line);
    else this.#rings.set(hold.device.organizationId, new Set([line]));
    return line;
  }

  /** The first ones of a line; it goes to the end of its ring, or away. */
  #remove(line: WaitingLine, count: number): Packet[] {
    const { hold, packets } = line;
    const removed = packets.length === count ? packets : packets.splice(0, count);
    const isOver = removed === packets;
    const { organizationId } = hold.device;
    const ring = this.#rings.get(organizationId) as Set<WaitingLine>;
    ring.delete(line);
    if (isOver) line.packets = none;
    else ring.add(line);
    if (ring.size === 0) this.#rings.delete(organizationId);
    line.taken = 0;
    line.urgentCount = Math.max(0, line.urgentCount - count);
    if (line.urgentCount === 0) this.#urgent.delete(line);
    this.#count -= count;
    for (const { frame } of removed) this.#bytes -= frame.raw.length;
    return removed;
  }
}

const urgentOf = ({ urgentCount }: WaitingLine): number => urgentCount;
const allOf = ({ packets }: WaitingLine): number => packets.length;

function ringsOf(lines: Iterable<WaitingLine>): Set<WaitingLine>[] {
  const rings = new Map<string, Set<WaitingLine>>();
  for (const line of lines) {
    const { organizationId } = line.hold.device;
    const ring = rings.get(organizationId);
    if (ring) ring.add(line);
    else rings.set(organizationId, new Set([line]));
  }
  return [...rings.values()];
}

/** A turn of one device of each organization after the other, until the budget or what waits is used up. */
function takeInTurns(
  rings: readonly Iterable<WaitingLine>[],
  budget: BatchLimits,
  touched: Set<WaitingLine>,
  isBusy: (hold: DeviceHold) => boolean,
  countOf: (line: WaitingLine) => number,
): void {
  let turns = rings.map((ring) => turnsOf(ring, budget, touched, isBusy, countOf));
  while (turns.length > 0 && budget.packets > 0 && budget.bytes > 0) {
    turns = turns.filter((turn) => budget.packets > 0 && budget.bytes > 0 && !turn.next().done);
  }
}

/** Each step is the turn of one line. */
function* turnsOf(
  ring: Iterable<WaitingLine>,
  budget: BatchLimits,
  touched: Set<WaitingLine>,
  isBusy: (hold: DeviceHold) => boolean,
  countOf: (line: WaitingLine) => number,
): Generator<void> {
  let lines = ring;
  for (;;) {
    const unfinished: WaitingLine[] = [];
    for (const line of lines) {
      if (isBusy(line.hold) || line.taken >= countOf(line)) continue;
      touched.add(line);
      takeTurn(line, budget, countOf(line));
      if (line.taken < countOf(line)) unfinished.push(line);
      yield;
    }
    if (unfinished.length === 0) return;
    lines = unfinished;
  }
}

/** At least one packet, however large. */
function takeTurn(line: WaitingLine, budget: BatchLimits, count: number): void {
  let bytes = 0;
  while (line.taken < count && bytes < turnBytes && budget.packets > 0 && budget.bytes > 0) {
    const size = (line.packets[line.taken] as Packet).frame.raw.length;
    line.taken++;
    bytes += size;
    budget.packets--;
    budget.bytes -= size;
  }
}
