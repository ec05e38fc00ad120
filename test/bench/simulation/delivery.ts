import type { Machine, Thread } from "./machine.ts";

/** Microseconds of CPU for a delivery, unless the name says otherwise. */
export interface DeliveryCosts {
  worker: number;
  database: number;
  receiver: number;
  /** From the commit of rows to their page in the memory of the worker, without what anybody computes. */
  wakeUs: number;
  /** How long a request is under way, both directions, without what anybody computes. */
  requestUs: number;
}

const maxInFlight = 32;

/** The lane of one integration in a worker: rows in order, so many requests at a time. What src/outbound does, with costs instead of work. */
export class SimulatedLane {
  readonly #machine: Machine;
  readonly #costs: DeliveryCosts;
  readonly #worker: Thread;
  readonly #database: Thread;
  readonly #receiver: Thread;
  readonly #rows: { madeUs: number }[] = [];
  #inFlight = 0;
  delivered = 0;
  /** From the row to the request that the receiver has. */
  readonly timesUs: number[] = [];

  constructor(machine: Machine, costs: DeliveryCosts, worker: Thread = machine.thread()) {
    this.#machine = machine;
    this.#costs = costs;
    this.#worker = worker;
    this.#database = machine.thread();
    this.#receiver = machine.thread();
  }

  get waiting(): number {
    return this.#rows.length;
  }

  /** Rows that were committed now. */
  add(count: number): void {
    const madeUs = this.#machine.nowUs;
    this.#machine.after(this.#costs.wakeUs, () => {
      for (let n = 0; n < count; n++) this.#rows.push({ madeUs });
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#inFlight < maxInFlight && this.#rows.length > 0) this.#send(this.#rows.shift() as { madeUs: number });
  }

  #send({ madeUs }: { madeUs: number }): void {
    const { worker, database, receiver, requestUs } = this.#costs;
    const machine = this.#machine;
    this.#inFlight++;
    machine.run(this.#worker, worker / 2, () =>
      machine.after(requestUs / 2, () =>
        machine.run(this.#receiver, receiver, () => {
          this.timesUs.push(machine.nowUs - madeUs);
          machine.after(requestUs / 2, () =>
            machine.run(this.#worker, worker / 2, () => {
              // On record with others, while the next request is under way.
              machine.run(this.#database, database, () => undefined);
              this.#inFlight--;
              this.delivered++;
              this.#pump();
            }),
          );
        }),
      ),
    );
  }
}
