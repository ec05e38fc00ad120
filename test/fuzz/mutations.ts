/** Randomness from a seed, and the damage that is done to valid input with it. */
export interface Random {
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
  bytes(length: number): Buffer;
}

export function makeRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % Math.max(1, limit);
  };
  return {
    below,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}

/** Values at which programs that read numbers go wrong. */
const edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

type Mutation = (input: Buffer, random: Random, other: Buffer) => Buffer;

const mutations: readonly Mutation[] = [
  (input, random) => {
    const copy = Buffer.from(input);
    for (let hits = 1 + random.below(4); hits > 0 && copy.length > 0; hits--) {
      copy[random.below(copy.length)] = random.below(256);
    }
    return copy;
  },
  (input, random) => {
    const copy = Buffer.from(input);
    const width = random.pick([1, 2, 4] as const);
    if (copy.length < width) return copy;
    const value = random.pick(edges) % 2 ** (8 * width);
    const at = random.below(copy.length - width + 1);
    if (random.below(2) === 0) copy.writeUIntBE(value, at, width);
    else copy.writeUIntLE(value, at, width);
    return copy;
  },
  (input, random) => input.subarray(0, random.below(input.length + 1)),
  (input, random) => {
    const [from, length] = [random.below(input.length), random.below(32)];
    return Buffer.concat([input.subarray(0, from), input.subarray(from + length)]);
  },
  (input, random) => {
    const [from, length] = [random.below(input.length), 1 + random.below(64)];
    const part = input.subarray(from, from + length);
    return Buffer.concat([input.subarray(0, from), part, part, input.subarray(from)]);
  },
  (input, random) => {
    const at = random.below(input.length);
    return Buffer.concat([input.subarray(0, at), random.bytes(random.below(16)), input.subarray(at)]);
  },
  (input, random, other) =>
    Buffer.concat([input.subarray(0, random.below(input.length)), other.subarray(random.below(other.length))]),
  // Numbers written as text.
  (input, random) => {
    const text = random.pick(["-1", "99999999999999999999", "1e400", "NaN", "0x10", "00", "", "%00", "\ud83d\ude00"]);
    return Buffer.from(input.toString("latin1").replace(/\d+/, text), "latin1");
  },
];

/** Valid input with one to three damages. */
export function damage(seeds: readonly Buffer[], random: Random): Buffer {
  let input = random.pick(seeds);
  for (let rounds = 1 + random.below(3); rounds > 0; rounds--) {
    input = random.pick(mutations)(input, random, random.pick(seeds));
  }
  return input;
}
