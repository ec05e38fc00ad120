/** Somebody whose bytes are left undecoded while the budget is used up. */
export interface BudgetUser {
  goOn(): void;
}

export interface TenantLimits {
  tenantFrames: number;
  tenantBytes: number;
}

/**
 * What the devices of one organization have waiting for their commit. It is smaller than what the gateway takes in all, so that
 * a flood of one organization stops the reading of its own devices before it stops everybody's. A device is stopped
 * when it sends more: of thousands that wait for an answer most send nothing before it.
 */
export class TenantBudget {
  readonly #limits: TenantLimits;
  /** Who has bytes to decode, those that came first in front. */
  readonly #paused = new Set<BudgetUser>();
  #frames = 0;
  #bytes = 0;
  isFull = false;

  constructor(limits: TenantLimits) {
    this.#limits = limits;
  }

  /** Then not even one packet of each device is heard: so many devices would fill the gateway, and stop everybody. */
  get isOverfull(): boolean {
    return this.#share >= 2;
  }

  add(bytes: number): void {
    this.#frames++;
    this.#bytes += bytes;
    if (this.#share >= 1) this.isFull = true;
  }

  /** Those that paused go on from the half, one after the other until it is full again. */
  remove(bytes: number): void {
    this.#frames--;
    this.#bytes -= bytes;
    if (!this.isFull || this.#share > 0.5) return;
    this.isFull = false;
    // After what is being answered now: decoding for many takes a while.
    if (this.#paused.size > 0) queueMicrotask(() => this.#goOn());
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

  leave(user: BudgetUser): void {
    this.#paused.delete(user);
  }

  get #share(): number {
    return Math.max(this.#frames / this.#limits.tenantFrames, this.#bytes / this.#limits.tenantBytes);
  }
}

export class TenantBudgets {
  readonly #limits: TenantLimits;
  readonly #budgets = new Map<string, TenantBudget>();

  constructor(limits: TenantLimits) {
    this.#limits = limits;
  }

  of(organizationId: string): TenantBudget {
    let budget = this.#budgets.get(organizationId);
    if (!budget) {
      budget = new TenantBudget(this.#limits);
      this.#budgets.set(organizationId, budget);
    }
    return budget;
  }
}
