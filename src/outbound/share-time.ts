import { performance } from "node:perf_hooks";
import type { RecentWaits } from "../lib/recent-waits.ts";
import type { Slots } from "./delivery-slots.ts";
import type { DrainRate } from "./drain-rate.ts";
import { LateRate } from "./late-rate.ts";
import { LateShare } from "./late-share.ts";
import { LateStarts, startEveryMs } from "./late-starts.ts";

const adjustEveryMs = 100;

export interface SharedTime {
  slots: Slots;
  /** Slots that there are. */
  max: number;
  drain: DrainRate;
  /** Of packets that this process answers; undefined: it answers none. */
  packetWaits: RecentWaits | undefined;
}

/** Measures how busy the process is and how long devices wait for it, and lets late rows have what is left of its time. */
export function shareTime({ slots, max, drain, packetWaits }: SharedTime): () => void {
  const share = new LateShare(max);
  const rate = new LateRate();
  let perSecond = Number.POSITIVE_INFINITY;
  let starting: { timer: NodeJS.Timeout; starts: LateStarts } | undefined;
  let [startedMs, startedBegun] = [0, 0];
  let before = performance.eventLoopUtilization();
  let [lookedMs, lookedBegun] = [performance.now(), 0];

  const start = (): void => {
    const [elapsedMs, begun] = [performance.now() - startedMs, slots.begun.late - startedBegun];
    startedMs += elapsedMs;
    startedBegun += begun;
    if (starting) slots.allowLate(starting.starts.next(perSecond, elapsedMs, begun));
  };
  const limitStarts = (): void => {
    if (perSecond < Number.POSITIVE_INFINITY) {
      if (starting) return;
      [startedMs, startedBegun] = [performance.now(), slots.begun.late];
      starting = { timer: setInterval(start, startEveryMs).unref(), starts: new LateStarts() };
      start();
    } else {
      clearInterval(starting?.timer);
      starting = undefined;
      slots.allowLate(Number.POSITIVE_INFINITY);
    }
  };
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization: busy } = performance.eventLoopUtilization(now, before);
    before = now;
    const [durationMs, begun] = [performance.now() - lookedMs, slots.begun.late - lookedBegun];
    lookedMs += durationMs;
    lookedBegun += begun;
    const minPerSecond = drain.perSecond;
    const { lateTaken: lateInFlight, hasUpToDate } = slots;
    const isTooSlow = lateInFlight > 0 && (begun * 1000) / durationMs < minPerSecond;
    slots.limitLate(share.adjust({ busy, lateInFlight, hasUpToDate, isTooSlow }));
    if (!packetWaits) return;
    perSecond = rate.adjust({ durationMs, busy, packets: packetWaits.take(), begun, minPerSecond });
    limitStarts();
  };
  const looking = setInterval(look, adjustEveryMs).unref();
  return () => {
    clearInterval(looking);
    clearInterval(starting?.timer);
  };
}
