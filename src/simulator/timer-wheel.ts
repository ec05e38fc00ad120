/** Something that wants to be woken; it is in the wheel at most once. */
export interface Sleeper {
  /** The tick at which it is due; kept by the wheel. -1: not in the wheel. */
  dueTick: number;
  wake(nowMs: number): void;
}

/**
 * One timer for thousands of sleepers. A sleeper lies in the slot of its tick; what has been moved since is found stale there
 * and left out, so that moving costs no search.
 */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #slots: Sleeper[][];
  #tick: number;

  constructor(nowMs: number, tickMs = 50, slots = 1024) {
    this.#tickMs = tickMs;
    this.#tick = Math.floor(nowMs / tickMs);
    this.#slots = Array.from({ length: slots }, () => []);
  }

  /** Wakes the sleeper at that time or up to a tick later, and no longer at an earlier agreed time. */
  schedule(sleeper: Sleeper, dueMs: number): void {
    const tick = Math.max(Math.ceil(dueMs / this.#tickMs), this.#tick + 1);
    if (sleeper.dueTick === tick) return;
    sleeper.dueTick = tick;
    this.#slotOf(tick).push(sleeper);
  }

  cancel(sleeper: Sleeper): void {
    sleeper.dueTick = -1;
  }

  /** To be called about once per tick; ticks that were missed are made up for. */
  advance(nowMs: number): void {
    const target = Math.floor(nowMs / this.#tickMs);
    // After a long standstill one round visits every slot once, with everything that has become due.
    if (target - this.#tick > this.#slots.length) this.#tick = target - this.#slots.length;
    while (this.#tick < target) {
      this.#tick++;
      this.#turn(this.#tick, target, nowMs);
    }
  }

  #turn(tick: number, target: number, nowMs: number): void {
    const index = tick % this.#slots.length;
    const sleepers = this.#slots[index] as Sleeper[];
    if (sleepers.length === 0) return;
    this.#slots[index] = [];
    const kept = new Set<Sleeper>();
    for (const sleeper of sleepers) {
      if (sleeper.dueTick === -1 || sleeper.dueTick % this.#slots.length !== index || kept.has(sleeper)) continue;
      if (sleeper.dueTick > target) {
        kept.add(sleeper);
        this.#slotOf(tick).push(sleeper);
      } else {
        sleeper.dueTick = -1;
        sleeper.wake(nowMs);
      }
    }
  }

  #slotOf(tick: number): Sleeper[] {
    return this.#slots[tick % this.#slots.length] as Sleeper[];
  }
}
