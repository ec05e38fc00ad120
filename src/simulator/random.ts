/** Numbers that look random and depend on nothing but what is passed in: a seed, names of what is drawn, days, places. */
type Part = number | string;

export const hash = (...parts: Part[]): number => hashOf(parts);

function hashOf(parts: readonly Part[]): number {
  let state = 0x9e3779b9;
  for (const part of parts) {
    if (typeof part === "number") {
      state = mix(state, part | 0);
      if (part > 0xffffffff) state = mix(state, (part / 0x1_0000_0000) | 0);
    } else {
      for (let index = 0; index < part.length; index++) state = (Math.imul(state, 31) + part.charCodeAt(index)) | 0;
      state = mix(state, part.length);
    }
  }
  return finish(state);
}

function mix(state: number, value: number): number {
  const turned = Math.imul(state ^ Math.imul(value, 0x85ebca6b), 0xc2b2ae35);
  return (turned ^ (turned >>> 15)) | 0;
}

function finish(state: number): number {
  let value = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

const share = (hashed: number): number => hashed / 0x1_0000_0000;

/** From 0 up to, not including, 1. */
export const uniform = (...parts: Part[]): number => share(hashOf(parts));

export const between = (low: number, high: number, ...parts: Part[]): number =>
  low + (high - low) * share(hashOf(parts));

export const choose = <T>(from: readonly T[], ...parts: Part[]): T => from[hashOf(parts) % from.length] as T;

/** Bell-shaped around 0 with a standard deviation of 1, never beyond 3.5. */
export const bell = (...parts: Part[]): number => bellFrom(hashOf(parts));

function bellFrom(base: number): number {
  let sum = 0;
  for (let index = 1; index <= 4; index++) sum += share(finish(mix(base, index)));
  return (sum - 2) * Math.sqrt(3);
}

/** A bell-shaped value that wanders: drawn again every `everyMs`, and straight lines in between. */
export function wandering(timeMs: number, everyMs: number, ...parts: Part[]): number {
  const step = Math.floor(timeMs / everyMs);
  const passed = timeMs / everyMs - step;
  const base = hashOf(parts);
  return bellFrom(mix(base, step)) * (1 - passed) + bellFrom(mix(base, step + 1)) * passed;
}
