export interface Interval {
  middle: number;
  low: number;
  high: number;
}

/** Student's t for 95 % by degrees of freedom; beyond the list the normal value is near enough. */
const tValues = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];
const tOf = (degrees: number): number => tValues[degrees - 1] ?? 2;

/**
 * The 95 % interval of the mean of ratios, over their logarithms, since twice as fast and half as fast lie equally far from 1.
 * One ratio alone says nothing of its spread.
 */
export function intervalOf(ratios: readonly number[]): Interval {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  if (logs.length < 2) return { middle: Math.exp(mean), low: 0, high: Number.POSITIVE_INFINITY };
  const variance = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (logs.length - 1);
  const half = tOf(logs.length - 1) * Math.sqrt(variance / logs.length);
  return { middle: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

/** The interval of new to old, from ratios of both trees that were measured in turns. */
export const changeOf = (now: readonly number[], before: readonly number[]): Interval =>
  intervalOf(now.slice(0, before.length).map((ratio, index) => ratio / (before[index] as number)));
