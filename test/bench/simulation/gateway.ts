import type { Disk } from "./disk.ts";
import type { Lanes } from "./lanes.ts";
import type { Machine, Thread } from "./machine.ts";

/** Microseconds of CPU, unless the name says otherwise. */
export interface GatewayCosts {
  /** Of the program, for a packet: reading and decoding it, evaluating it and making its rows, answering it. */
  received: number;
  stored: number;
  answered: number;
  /** Of the program, for a batch. */
  programBatch: number;
  /** Of the database, for a packet: before the lane is locked, and after. */
  updated: number;
  copied: number;
  /** Of the database, for a batch. */
  databaseBatch: number;
  /** For the rows of the outbound log of a packet, while their lane is locked: of the program, and of the database. */
  told: number;
  logged: number;
  /** How long a question to the database is under way, both directions, without what anybody computes. */
  roundTripUs: number;
}

/** A pause of the event loop for garbage after so many packets. */
export interface Collection {
  packets: number;
  pauseUs: number;
}

export interface SimulatedDevice {
  organization: number;
  isBusy: boolean;
}

export interface SimulatedPacket {
  device: SimulatedDevice;
  settled(): void;
}

export const batchPackets = 1000;
export const secondBatchThreshold = 200;
/** Packets that are answered in one piece of simulated work. */
const pieceOf = 8;

export interface GatewayParts {
  machine: Machine;
  disk: Disk;
  lanes: Lanes;
  costs: GatewayCosts;
  collections: readonly Collection[];
  /** Transactions at a time. */
  inFlight: number;
  /** Whether packets have rows in the outbound log, so that batches lock lanes. */
  isLogging: boolean;
}

/** One gateway process and its connections to the database: what src/ingest/ingest.ts does, with costs instead of work. */
export class SimulatedGateway {
  readonly #parts: GatewayParts;
  readonly #loop: Thread;
  readonly #connections: Thread[] = [];
  #received = 0;
  #waiting: SimulatedPacket[] = [];
  #running = 0;
  batches = 0;
  packets = 0;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#loop = parts.machine.thread();
  }

  /** Bytes of a packet have come in. */
  receive(packet: SimulatedPacket): void {
    const { machine, costs, collections } = this.#parts;
    this.#received++;
    for (const { packets, pauseUs } of collections) {
      if (this.#received % Math.ceil(packets) === 0) machine.run(this.#loop, pauseUs, () => undefined);
    }
    machine.run(this.#loop, costs.received, () => {
      this.#waiting.push(packet);
      const mayBegin =
        this.#running === 0 || (this.#running < this.#parts.inFlight && this.#waiting.length >= secondBatchThreshold);
      if (!mayBegin) return;
      this.#running++;
      // After what has come in the same turn of the event loop.
      machine.run(this.#loop, 0, () => this.#next());
    });
  }

  #next(): void {
    const packets = this.#take();
    if (packets.length === 0) {
      this.#running--;
      return;
    }
    this.batches++;
    this.packets += packets.length;
    for (const { device } of packets) device.isBusy = true;
    this.#store(packets);
  }

  #take(): SimulatedPacket[] {
    const isAlone = this.#running <= 1;
    if (!isAlone && this.#waiting.length < secondBatchThreshold) return [];
    const taken: SimulatedPacket[] = [];
    const kept: SimulatedPacket[] = [];
    for (const packet of this.#waiting) {
      const fits = taken.length < batchPackets && (isAlone || !packet.device.isBusy);
      (fits ? taken : kept).push(packet);
    }
    this.#waiting = kept;
    return taken;
  }

  #store(packets: readonly SimulatedPacket[]): void {
    const { machine, disk, lanes, costs, isLogging } = this.#parts;
    const count = packets.length;
    const connection = this.#connections.pop() ?? machine.thread();
    const organizations = isLogging
      ? [...new Set(packets.map(({ device }) => device.organization))].sort((a, b) => a - b)
      : [];
    const ask = (costUs: number, done: () => void, flush = (then: () => void): void => then()): void =>
      machine.after(costs.roundTripUs / 2, () =>
        machine.run(connection, costUs, () => flush(() => machine.after(costs.roundTripUs / 2, done))),
      );
    const work = (costUs: number, done: () => void): void => machine.run(this.#loop, costUs, done);
    // The first devices have their answers while the last ones are written.
    const answer = (): void => {
      work(costs.programBatch / 4, () => undefined);
      for (let start = 0; start < count; start += pieceOf) {
        const piece = packets.slice(start, start + pieceOf);
        work(costs.answered * piece.length, () => {
          for (const packet of piece) packet.settled();
        });
      }
      work(0, () => {
        this.#connections.push(connection);
        for (const { device } of packets) device.isBusy = false;
        this.#next();
      });
    };
    const commit = (costUs: number): void =>
      ask(costUs, answer, (then) =>
        disk.flush(() => {
          lanes.unlock(organizations);
          then();
        }),
      );
    const tell = (): void => work(costs.told * count, () => commit(costs.logged * count));
    const store = (): void => {
      const copyUs = costs.databaseBatch / 2 + costs.copied * count;
      // The lanes are the last lock, after all other rows are written.
      if (isLogging) ask(copyUs, tell, (then) => lanes.lock(organizations, then));
      else commit(copyUs);
    };
    const copy = (): void => work(costs.programBatch / 4 + (costs.stored * count) / 2, store);
    work(costs.programBatch / 2 + (costs.stored * count) / 2, () =>
      ask(costs.databaseBatch / 2 + costs.updated * count, copy),
    );
  }
}
