import { performance } from "node:perf_hooks";
import type { RecentWaits } from "../lib/recent-waits.ts";
import type { Slots } from "./delivery-slots.ts";
import type { DrainRate } from "./drain-rate.ts";
import { LateRate } from "./late-rate.ts";
import { LateShare } from "./late-share.ts";

const adjustEveryMs = 100;
/** Of what may begin in a second a part at a time, or the rows of a whole look would begin at once and hold up packets. */
const startEveryMs = 20;

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
  let starting: NodeJS.Timeout | undefined;
  let [owed, startedMs] = [0, 0];
  let before = performance.eventLoopUtilization();
  let [lookedMs, lookedBegun] = [performance.now(), 0];

  const start = (): void => {
    const nowMs = performance.now();
    // What a process that stood still has missed does not all begin at once.
    owed += (perSecond * Math.min(nowMs - startedMs, 2 * startEveryMs)) / 1000;
    startedMs = nowMs;
    const starts = Math.floor(owed);
    owed -= starts;
    slots.allowLate(starts);
  };
  const limitStarts = (): void => {
    if (perSecond < Number.POSITIVE_INFINITY) {
      if (starting) return;
      startedMs = performance.now();
      starting = setInterval(start, startEveryMs).unref();
      start();
    } else {
      clearInterval(starting);
      starting = undefined;
      slots.allowLate(Number.POSITIVE_INFINITY);
    }
  };
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization: busy } = performance.eventLoopUtilization(now, before);
    before = now;
    slots.limitLate(share.adjust(busy, slots.lateTaken, slots.hasUpToDate));
    if (!packetWaits) return;
    const [durationMs, begun] = [performance.now() - lookedMs, slots.begun.late - lookedBegun];
    lookedMs += durationMs;
    lookedBegun += begun;
    perSecond = rate.adjust({ durationMs, busy, packets: packetWaits.take(), begun, minPerSecond: drain.perSecond });
    limitStarts();
  };
  const looking = setInterval(look, adjustEveryMs).unref();
  return () => {
    clearInterval(looking);
    clearInterval(starting);
  };
}
