/** Somebody whose bytes are left undecoded or unread while the budget is used up. */
export interface BudgetUser {
  goOn(): void;
}

export interface TenantLimits {
  tenantFrames: number;
  tenantBytes: number;
}

/** What the budgets of all organizations share. */
interface BudgetHost {
  undecodedBytes: number;
  /** Fewer sockets may be read than before. */
  onStop(): void;
}

/** Whose sockets are not read: nobody's, those that have something in progress or a backlog, or all. */
type StopLevel = 0 | 1 | 2;

/** Each level is left half a budget below where it begins. */
function stopLevelAt(share: number, before: StopLevel): StopLevel {
  if (share >= 2 || (before === 2 && share > 1.5)) return 2;
  return share >= 1 || (before > 0 && share > 0.5) ? 1 : 0;
}

/**
 * What the devices of one organization have waiting for their commit. It is smaller than what the gateway takes in all, so that
 * a flood of one organization stops the reading of its own devices before it stops everybody's. A device is stopped
 * when it sends more: of thousands that wait for an answer most send nothing before it.
 *
 * Decoding stops at the frames and bytes that are decoded. Each device that is stopped there has read a chunk of up to 64 KB; so
 * reading stops, before the next chunk, at the sum of what is decoded and what is not.
 */
export class TenantBudget {
  readonly #limits: TenantLimits;
  readonly #host: BudgetHost;
  /** Who has bytes to decode, those that came first in front. */
  readonly #paused = new Set<BudgetUser>();
  /** Whose sockets are not read, those that were stopped first in front. */
  readonly #unread = new Set<BudgetUser>();
  #frames = 0;
  #bytes = 0;
  #undecodedBytes = 0;
  #stopLevel: StopLevel = 0;
  isFull = false;

  constructor(limits: TenantLimits, host: BudgetHost) {
    this.#limits = limits;
    this.#host = host;
  }

  /** Then not even one packet of each device is heard: so many devices would fill the gateway, and stop everybody. */
  get isOverfull(): boolean {
    return this.#share >= 2;
  }

  /** No device is read. */
  get isStopped(): boolean {
    return this.#stopLevel === 2;
  }

  add(bytes: number): void {
    this.#frames++;
    this.#bytes += bytes;
    if (this.#share >= 1) this.isFull = true;
    if (this.isFull || this.#undecodedBytes > 0) this.#checkReading();
  }

  /** Those that paused go on from the half, one after the other until it is full again. */
  remove(bytes: number): void {
    this.#frames--;
    this.#bytes -= bytes;
    if (this.#stopLevel > 0) this.#checkReading();
    if (!this.isFull || this.#share > 0.5) return;
    this.isFull = false;
    // After what is being answered now: decoding for many takes a while.
    if (this.#paused.size > 0) queueMicrotask(() => this.#goOn());
  }

  addUndecoded(change: number): void {
    this.#undecodedBytes += change;
    this.#host.undecodedBytes += change;
    this.#checkReading();
  }

  #goOn(): void {
    for (const user of this.#paused) {
      if (this.isFull) return;
      this.#paused.delete(user);
      user.goOn();
    }
  }

  pause(user: BudgetUser): void {
    this.#paused.add(user);
  }

  /** A quiet device has nothing in progress, and sent no more than could be decoded. False: it is told when it may. */
  mayRead(user: BudgetUser, isQuiet: boolean): boolean {
    if (this.#stopLevel === 0 || (this.#stopLevel === 1 && isQuiet)) return true;
    this.#unread.add(user);
    return false;
  }

  #checkReading(): void {
    const before = this.#stopLevel;
    const share = (this.#bytes + this.#undecodedBytes) / this.#limits.tenantBytes;
    this.#stopLevel = stopLevelAt(share, before);
    if (this.#stopLevel > before) this.#host.onStop();
    else if (this.#stopLevel < before) queueMicrotask(() => this.#readOn());
  }

  /** All of them: those that read too much are stopped again. */
  #readOn(): void {
    const users = [...this.#unread];
    this.#unread.clear();
    for (const user of users) user.goOn();
  }

  leave(user: BudgetUser): void {
    this.#paused.delete(user);
    this.#unread.delete(user);
  }

  get #share(): number {
    return Math.max(this.#frames / this.#limits.tenantFrames, this.#bytes / this.#limits.tenantBytes);
  }
}

export class TenantBudgets implements BudgetHost {
  /** Of all organizations. */
  undecodedBytes = 0;
  readonly onStop: () => void;
  readonly #limits: TenantLimits;
  readonly #budgets = new Map<string, TenantBudget>();

  constructor(limits: TenantLimits, onStop: () => void) {
    this.#limits = limits;
    this.onStop = onStop;
  }

  of(organizationId: string): TenantBudget {
    let budget = this.#budgets.get(organizationId);
    if (!budget) {
      budget = new TenantBudget(this.#limits, this);
      this.#budgets.set(organizationId, budget);
    }
    return budget;
  }
}
