import { lookup } from "node:dns/promises";
import { performance } from "node:perf_hooks";
import type { Resolve } from "../resources/organizations/webhook-target.ts";

const atOnce = 2;
const slowAfterMs = 500;
const maxSlowNames = 10_000;

/**
 * Looks names up with the system's resolver, which blocks one of the few threads that the whole process has for it. A partner
 * whose name server does not answer must not hold up the names of others: names that were slow wait for each other in a line of
 * their own, and a name is never looked up twice at a time.
 */
export function makeNameLookup(
  resolve: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
): Resolve {
  const inProgress = new Map<string, Promise<readonly string[]>>();
  const slowNames = new Set<string>();
  const fastLine = makeLine(atOnce);
  const slowLine = makeLine(1);

  const ask = async (name: string): Promise<readonly string[]> => {
    const startedMs = performance.now();
    try {
      return await resolve(name);
    } finally {
      slowNames.delete(name);
      if (performance.now() - startedMs > slowAfterMs && slowNames.size < maxSlowNames) slowNames.add(name);
    }
  };
  return (name) => {
    const known = inProgress.get(name);
    if (known) return known;
    const line = slowNames.has(name) ? slowLine : fastLine;
    const asked = line(() => ask(name)).finally(() => inProgress.delete(name));
    inProgress.set(name, asked);
    return asked;
  };
}

/** Runs a number of jobs at a time, the others in the order of their arrival. */
export function makeLine(places: number): <T>(job: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return async (job) => {
    if (taken >= places) await new Promise<void>((resolve) => waiting.push(resolve));
    else taken++;
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken--;
    }
  };
}
