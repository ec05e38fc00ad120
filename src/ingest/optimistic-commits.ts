import type { ReadLane } from "../outbox/outbound-lanes.ts";
import type { OrganizationRules } from "./rules/organization-rules.ts";

/** The database is not as the batch expected. Nothing of it was stored; the next attempt waits for the answers. */
export class UnexpectedState extends Error {
  constructor() {
    super("the database is not as the batch expected");
  }
}

/** How `expectedStatesStatement` ends a transaction: with a division by zero. */
export const isUnexpected = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "22012";

/** With more of them it is worth more that rows become bytes while the database writes the states. */
const maxPackets = 50;
const minCareful = 8;
const maxCareful = 1024;

/**
 * Most batches change nothing but the rows of their devices: no presence, no rules, no partner. Then all answers of the database are
 * known beforehand, and the whole transaction goes out as one message whose statements fail if an answer is another one: one round
 * trip instead of two. A batch that fails so is tried again and waits for the answers, and so do some of those after it: twice as
 * many each time, until one succeeds.
 */
export class OptimisticCommits {
  /** As the last batch that asked has read them. They go with the rules of their organization when those are forgotten. */
  readonly #lanes = new WeakMap<OrganizationRules, readonly ReadLane[]>();
  readonly #count: (outcome: "stored" | "unexpected") => void;
  #careful = 0;
  #nextCareful = minCareful;

  constructor(count: (outcome: "stored" | "unexpected") => void) {
    this.#count = count;
  }

  /** Whether the next batch may expect anything. */
  take(packets: number): boolean {
    if (packets > maxPackets) return false;
    if (this.#careful === 0) return true;
    this.#careful--;
    return false;
  }

  succeeded(): void {
    this.#count("stored");
    this.#nextCareful = minCareful;
  }

  failed(): void {
    this.#count("unexpected");
    this.#careful = this.#nextCareful;
    this.#nextCareful = Math.min(2 * this.#nextCareful, maxCareful);
  }

  note(rules: ReadonlyMap<string, OrganizationRules>, lanes: readonly ReadLane[]): void {
    const byOrganization = new Map<string, ReadLane[]>();
    for (const id of rules.keys()) byOrganization.set(id, []);
    for (const lane of lanes) byOrganization.get(lane.organizationId)?.push(lane);
    for (const [id, organization] of rules) this.#lanes.set(organization, byOrganization.get(id) ?? []);
  }

  /** Undefined: those of an organization have not been read yet. */
  lanesOf(rules: ReadonlyMap<string, OrganizationRules>): readonly ReadLane[] | undefined {
    const lanes: ReadLane[] = [];
    for (const organization of rules.values()) {
      const known = this.#lanes.get(organization);
      if (!known) return undefined;
      lanes.push(...known);
    }
    return lanes;
  }
}
