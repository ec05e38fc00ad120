type Action = () => void;

/** What does one thing at a time, in order: an event loop, a connection of the database, a disk. */
export interface Thread {
  tasks: { costUs: number; done: Action }[];
  /** Work left of the first task. */
  leftUs: number;
}

interface Timer {
  atUs: number;
  order: number;
  action: Action;
}

const tinyUs = 1e-6;

/** Simulated time on a machine whose threads share its cores in equal parts, none faster than one core. */
export class Machine {
  readonly #cores: number;
  readonly #active = new Set<Thread>();
  readonly #timers: Timer[] = [];
  #orders = 0;
  nowUs = 0;
  /** Core time that was used. */
  busyUs = 0;

  constructor(cores: number) {
    this.#cores = cores;
  }

  thread(): Thread {
    return { tasks: [], leftUs: 0 };
  }

  /** Work for a thread, after what it has to do already. */
  run(thread: Thread, costUs: number, done: Action): void {
    thread.tasks.push({ costUs, done });
    if (thread.tasks.length > 1) return;
    thread.leftUs = costUs;
    this.#active.add(thread);
  }

  after(delayUs: number, action: Action): void {
    const timer = { atUs: this.nowUs + delayUs, order: this.#orders++, action };
    let at = this.#timers.push(timer) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(timer, this.#timers[parent]); parent = (at - 1) >> 1) {
      this.#timers[at] = this.#timers[parent] as Timer;
      at = parent;
    }
    this.#timers[at] = timer;
  }

  /** Lets time pass until then, or until nothing is left to do. */
  advanceTo(endUs: number): void {
    while (this.nowUs < endUs && (this.#active.size > 0 || this.#timers.length > 0)) {
      const rate = Math.min(1, this.#cores / Math.max(1, this.#active.size));
      let stepUs = Math.min(endUs, this.#timers[0]?.atUs ?? endUs) - this.nowUs;
      for (const { leftUs } of this.#active) stepUs = Math.min(stepUs, leftUs / rate);
      this.nowUs += stepUs;
      this.busyUs += stepUs * rate * this.#active.size;
      for (const thread of this.#active) thread.leftUs -= stepUs * rate;
      for (const thread of [...this.#active]) if (thread.leftUs <= tinyUs) this.#end(thread);
      while (this.#timers[0] && this.#timers[0].atUs <= this.nowUs + tinyUs) this.#takeTimer().action();
    }
  }

  #end(thread: Thread): void {
    const task = thread.tasks.shift();
    const next = thread.tasks[0];
    if (next) thread.leftUs = next.costUs;
    else this.#active.delete(thread);
    task?.done();
  }

  #takeTimer(): Timer {
    const timers = this.#timers;
    const first = timers[0] as Timer;
    const last = timers.pop() as Timer;
    if (timers.length === 0) return first;
    let at = 0;
    for (let child = 1; child < timers.length; child = 2 * at + 1) {
      if (child + 1 < timers.length && isBefore(timers[child + 1] as Timer, timers[child])) child++;
      if (!isBefore(timers[child] as Timer, last)) break;
      timers[at] = timers[child] as Timer;
      at = child;
    }
    timers[at] = last;
    return first;
  }
}

const isBefore = (a: Timer, b: Timer | undefined): boolean =>
  b !== undefined && (a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order));
