import type { Database } from "../../db/database.ts";
import type { Listener } from "../../db/listener.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Metrics } from "../../lib/metrics.ts";
import { findRuleChanges, rulesChannel } from "../../resources/rule-versions/rule-version.ts";
import { makeScheduleCheck, type ScheduleCheck } from "../../rules/fence-schedule.ts";
import { OrganizationRules } from "./organization-rules.ts";

export interface RuleBookOptions {
  db: Database;
  /** Not yet started. */
  listener: Listener;
  log: Logger;
  metrics: Metrics;
}

/**
 * The rules of this process: those of an organization are read when one of its devices is first heard of, and then what has
 * changed. A notification makes it read ahead; whoever evaluates names the version that counts, and waits for it. Those that
 * nobody evaluates any more are forgotten.
 */
export class RuleBook {
  readonly isScheduled: ScheduleCheck = makeScheduleCheck();
  readonly #db: Database;
  readonly #known = new Map<string, OrganizationRules>();
  /** Organizations whose rules were asked for since the last call of `forgetUnused`. */
  #used = new Set<string>();
  readonly #reading = new Map<string, Promise<OrganizationRules>>();
  readonly #countRead: (labels: { kind: string }) => void;

  constructor({ db, listener, log, metrics }: RuleBookOptions) {
    this.#db = db;
    const reads = metrics.counter("vigil_rules_reads_total", "Reads of an organization's rules.");
    this.#countRead = (labels) => reads.add(labels);
    metrics.gauge("vigil_rules_loaded", "Fences and thresholds in memory.", () =>
      [...this.#known.values()].reduce((sum, { size }) => sum + size, 0),
    );
    listener.on(rulesChannel, (organizationId) => {
      if (!this.#known.has(organizationId)) return;
      this.#read(organizationId).catch((error: Error) =>
        log.debug({ err: error.message }, "rules could not be preloaded"),
      );
    });
  }

  /** The rules as of this version or a later one. */
  async atLeast(organizationId: string, version: number): Promise<OrganizationRules> {
    this.#used.add(organizationId);
    for (let rules = this.#known.get(organizationId); ; ) {
      if (rules && rules.version >= version) return rules;
      rules = await this.#read(organizationId);
    }
  }

  /**
   * Drops the rules of organizations that had no packet and no timer since the last call: whoever needs them again reads them.
   * An attempt that still has the old ones finds at its commit whether they are those that count.
   */
  forgetUnused(): void {
    for (const organizationId of this.#known.keys()) {
      if (!this.#used.has(organizationId) && !this.#reading.has(organizationId)) this.#known.delete(organizationId);
    }
    this.#used = new Set();
  }

  /** One read at a time; a caller that arrives while it runs may need another. */
  #read(organizationId: string): Promise<OrganizationRules> {
    const running = this.#reading.get(organizationId);
    if (running) return running;
    const reading = this.#readNow(organizationId).finally(() => this.#reading.delete(organizationId));
    this.#reading.set(organizationId, reading);
    return reading;
  }

  async #readNow(organizationId: string): Promise<OrganizationRules> {
    const known = this.#known.get(organizationId);
    const found = known && (await findRuleChanges(this.#db, organizationId, known.version));
    if (known && found?.changes.every(({ kind }) => kind !== "all")) {
      if (found.version > known.version) {
        await known.apply(this.#db, found.version, found.changes);
        this.#countRead({ kind: "changes" });
      }
      return known;
    }
    const fresh = new OrganizationRules(organizationId);
    await fresh.load(this.#db);
    this.#known.set(organizationId, fresh);
    this.#countRead({ kind: "all" });
    return fresh;
  }
}
