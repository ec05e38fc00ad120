import type { Listener } from "../../db/listener.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Metrics } from "../../lib/metrics.ts";
import { rulesChannel } from "../../resources/rule-versions/rule-version.ts";
import { planChangedRules, type RuleTimerParts, runRuleTimers } from "./rule-timers.ts";

/** Other processes set due times without a notification; the shortest timer is a second long. */
const maxWaitMs = 1000;
/** Without a notification: what was missed while the connection for them was down. */
const planEveryMs = 10_000;

export interface RuleWorkerOptions extends RuleTimerParts {
  listener: Listener;
  log: Logger;
  metrics: Metrics;
}

/** Wakes up when the next timer is due, and looks for new ones every second. */
export function startRuleWorker(options: RuleWorkerOptions): { close(): Promise<void> } {
  const { db, nodes, clock, log, listener, metrics } = options;
  const ran = metrics.counter("vigil_rules_timers_total", "Devices whose due rule timers ran.");
  let isPlanDue = true;
  let plannedMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let wake: () => void = () => undefined;
  listener.on(rulesChannel, () => {
    isPlanDue = true;
    wake();
  });

  async function round(): Promise<number> {
    if (isPlanDue || performance.now() - plannedMs > planEveryMs) {
      isPlanDue = false;
      plannedMs = performance.now();
      await planChangedRules(options);
    }
    const count = await runRuleTimers(options);
    if (count > 0) ran.add({}, count);
    if (nodes && !nodes.isWhole) return maxWaitMs;
    const { next } = await db.one<{ next: Date | null }>`select min(due_at) as next from rule_states`;
    return next === null ? maxWaitMs : Math.min(maxWaitMs, Math.max(0, next.getTime() - clock.nowMs()));
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      const waitMs = await round().catch(async (error: unknown) => {
        await nodes?.noteFailure(error);
        log.warn({ err: error, job: "rule timers" }, "periodic job failed; it will be retried");
        plannedMs = Number.NEGATIVE_INFINITY;
        return maxWaitMs;
      });
      // A notification that came during the round asks for another one at once.
      if (isClosed || isPlanDue) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, waitMs);
      });
    }
  }
  const running = run();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      wake();
      await running;
    },
  };
}
