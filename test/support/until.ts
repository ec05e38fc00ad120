import { vi } from "vitest";

/** Waits until the check no longer throws. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 10_000, interval: 10 });
