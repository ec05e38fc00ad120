import type { DeviceProtocol, FleetTransport, Packet, Snapshot } from "../../src/simulator/device-protocol.ts";
import type { FleetMember } from "../../src/simulator/fleet.ts";
import { momentAt } from "../../src/simulator/life.ts";
import type { Link, OpenLink } from "../../src/simulator/link.ts";
import { sightingAt } from "../../src/simulator/sighting.ts";
import { iwHeartbeat } from "../support/fleet.ts";

const dayMs = 86_400_000;
const answerTimeoutMs = 3000;

export interface NumberedOptions {
  member: FleetMember;
  protocol: DeviceProtocol;
  transport: FleetTransport;
  openLink: OpenLink;
  /** Devices without a clock send numbered heartbeats; they are watches that speak iw. */
  hasClock: boolean;
  baseMs: number;
  random(): number;
}

/** In the open, always at the same place. */
export function snapshotAt({ person }: FleetMember, atMs: number): Snapshot {
  const { city } = person;
  const life = { ...momentAt(person, atMs), lat: city.lat, lng: city.lng };
  const gps = {
    lat: 41.902782,
    lng: 12.496367,
    altitudeM: 20,
    speedKmh: 3,
    heading: 118,
    satellites: 9,
    accuracyM: 10,
  };
  return { atMs, life, seen: { ...sightingAt(person, atMs, life, false), gps } };
}

type State = "closed" | "logging_in" | "idle" | "awaiting";

/**
 * A device of any protocol that numbers its packets and remembers which were acknowledged. With a clock it sends a packet again,
 * with the same bytes, until it is acknowledged, as devices do; without one it never repeats a packet, because nobody could tell
 * a repetition. Over UDP it repeats from another address: an answer to the first attempt cannot be taken for one to the second.
 */
export class NumberedDevice {
  readonly hasClock: boolean;
  readonly transport: FleetTransport;
  readonly member: FleetMember;
  readonly acknowledged = new Set<number>();
  sent = 0;
  readonly #options: NumberedOptions;
  #state: State = "closed";
  #link: Link | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #next = 1;
  /** The packets of the number that is in progress; the last one is answered. */
  #head: { n: number; packets: Packet[] } | undefined;
  #awaited: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: NumberedOptions) {
    this.#options = options;
    this.member = options.member;
    this.hasClock = options.hasClock;
    this.transport = options.transport;
    this.#connect();
  }

  get uid(): string {
    return this.member.imei;
  }

  get isIdle(): boolean {
    return this.#state === "idle" || this.#state === "closed" || this.#state === "logging_in";
  }

  /** Every tenth packet of a device with a clock calls for help. */
  isSos(n: number): boolean {
    return this.hasClock && n % 10 === 0;
  }

  /** The time, in whole seconds, that numbers a packet. Alarms are more than a minute apart, so that each one is an event. */
  timeOf(n: number): number {
    const { baseMs } = this.#options;
    return this.isSos(n) ? baseMs + 2 * dayMs + (n / 10) * 61_000 : baseMs + n * 1000;
  }

  /** Where reports are not answered, the sign of life after them is: what came before it on the connection is stored. */
  #packetsOf(n: number): Packet[] {
    const { protocol, member } = this.#options;
    if (!this.hasClock) return [{ bytes: Buffer.from(iwHeartbeat(n), "latin1"), answer: "03" }];
    const now = this.#snapshot(this.timeOf(n));
    const report = this.isSos(n) ? protocol.alarm(member, now, "sos") : protocol.location(member, now, false);
    return report.answer === null ? [report, protocol.heartbeat(member, now)] : [report];
  }

  #snapshot(atMs: number): Snapshot {
    return snapshotAt(this.member, atMs);
  }

  #connect(): void {
    if (this.#isStopped) return;
    const { protocol, member, openLink } = this.#options;
    this.#state = "logging_in";
    const link = openLink({
      onOpen: () => this.#write([protocol.login(member, this.#snapshot(Date.now()))]),
      onBytes: (bytes) => {
        if (this.#link === link) this.#read(bytes);
      },
      onClose: () => this.#leave(),
    });
    this.#link = link;
    // Datagrams say nothing of their loss.
    this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    if (this.transport === "udp") this.#timer = setTimeout(() => this.#leave(), answerTimeoutMs);
  }

  #leave(): void {
    clearTimeout(this.#timer);
    const link = this.#link;
    this.#link = undefined;
    this.#state = "closed";
    this.#rest = Buffer.alloc(0);
    link?.close();
    if (!this.hasClock) this.#head = undefined;
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#connect(), 20 + this.#options.random() * 150);
  }

  #write(packets: readonly Packet[]): void {
    this.#awaited = packets.at(-1)?.answer ?? null;
    for (const { bytes } of packets) this.#link?.write(bytes);
    this.#watch();
  }

  #send(): void {
    if (this.#isStopped || this.#state !== "idle") return;
    this.#head ??= { n: this.#next, packets: this.#packetsOf(this.#next) };
    if (!this.hasClock) this.#next++;
    this.#state = "awaiting";
    this.sent++;
    this.#write(this.#head.packets);
  }

  #read(bytes: Buffer): void {
    const { protocol, member } = this.#options;
    const { messages, rest } = protocol.read(member, Buffer.concat([this.#rest, bytes]));
    this.#rest = rest;
    for (const one of messages) {
      if (one.kind === "command") for (const ack of one.acks) this.#link?.write(ack);
      else if (one.kind === "answer") this.#answered(one.answer);
    }
  }

  #answered(answer: string): void {
    if (this.#state === "awaiting" && answer === this.#awaited && this.#head) {
      const { n, packets } = this.#head;
      // A sign of life says nothing of a report that went another way, as datagrams may.
      if (this.transport === "tcp" || packets.length === 1) this.acknowledged.add(n);
      this.#head = undefined;
      if (this.hasClock) this.#next = n + 1;
    } else if (this.#state !== "logging_in") return;
    clearTimeout(this.#timer);
    this.#state = "idle";
    const { random } = this.#options;
    if (random() < 0.2) this.#timer = setTimeout(() => this.#send(), random() * 30);
    else this.#send();
  }

  /** Comes back from another address. */
  move(): void {
    this.#leave();
  }

  stop(): void {
    this.#isStopped = true;
  }

  close(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#link?.close();
  }
}
