/** Durations are counted in buckets, so that health is read from few rows, however many deliveries there were. */
export const latencyBoundsMs: readonly number[] = [
  5, 10, 20, 35, 50, 75, 100, 150, 200, 350, 500, 750, 1000, 1500, 2000, 3500, 5000, 7500, 10_000, 15_000, 30_000,
  60_000,
];

/** The duration that the given share of attempts stayed below, by even spread within its bucket. Null: there were none. */
export function latencyAt(share: number, counts: ReadonlyMap<number, number>): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let passed = 0;
  for (let bucket = 0; bucket < latencyBoundsMs.length; bucket++) {
    const count = counts.get(bucket) ?? 0;
    if (count > 0 && passed + count >= wanted) {
      const low = latencyBoundsMs[bucket - 1] ?? 0;
      const high = latencyBoundsMs[bucket] as number;
      return Math.round(low + ((high - low) * (wanted - passed)) / count);
    }
    passed += count;
  }
  return latencyBoundsMs.at(-1) as number;
}
