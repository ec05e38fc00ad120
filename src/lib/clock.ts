/**
 * The one source of business time. Expiry, retention, schedules and every stored or signed time come from a Clock that is
 * passed in, never from Date.now() or the database, so that a drill can move the whole service in time.
 */
export interface Clock {
  now(): Date;
  nowMs(): number;
}

export function makeClock(offsetSeconds = 0): Clock {
  const offsetMs = offsetSeconds * 1000;
  return {
    now: () => new Date(Date.now() + offsetMs),
    nowMs: () => Date.now() + offsetMs,
  };
}

/** A clock that stands still until it is moved; for tests of expiry, windows and schedules. */
export interface ManualClock extends Clock {
  set(time: Date): void;
  advanceMs(ms: number): void;
}

export function makeManualClock(start: Date): ManualClock {
  let currentMs = start.getTime();
  return {
    now: () => new Date(currentMs),
    nowMs: () => currentMs,
    set: (time) => {
      currentMs = time.getTime();
    },
    advanceMs: (ms) => {
      currentMs += ms;
    },
  };
}
