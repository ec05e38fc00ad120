import { audioTarget } from "./audio-target.ts";
import { codecTargets } from "./codec-targets.ts";
import { httpTargets } from "./http-targets.ts";
import { makeRandom, type Random } from "./mutations.ts";

/**
 * `npm run fuzz -- [--minutes 1] [--seed N] [--target NAME]`: everything that reads bytes from outside, with valid input that is
 * damaged. A finding is an error that is no refusal, a result that depends on how the stream was cut, or a run that takes
 * longer than a second. Each is printed with the seed that repeats it, and becomes a test.
 */
export interface FuzzTarget {
  name: string;
  /** Throws what is a finding. */
  run(random: Random): unknown;
}

const args = process.argv.slice(2);
const option = (name: string): string | undefined => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? undefined : args[at + 1];
};
const seconds = Number(option("minutes") ?? 1) * 60;
const seed = Number(option("seed") ?? Math.floor(Math.random() * 2 ** 31));
const wanted = option("target");
const targets = [...codecTargets, audioTarget, ...httpTargets].filter(({ name }) => !wanted || name === wanted);
const maxFindings = 5;
const maxRunMs = 1000;

/** What never settles is a finding too. */
async function settled(run: unknown): Promise<void> {
  if (!(run instanceof Promise)) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it never ended")), 10 * maxRunMs);
  });
  await Promise.race([run, limit]).finally(() => clearTimeout(timer));
}

console.log(`fuzz, seed ${seed}, ${Math.round(seconds)} s for ${targets.length} targets`);
let findings = 0;
for (const target of targets) {
  const endMs = performance.now() + (seconds * 1000) / targets.length;
  let [executions, found, slowestMs] = [0, 0, 0];
  while (performance.now() < endMs && found < maxFindings) {
    const own = (seed + executions * 7919) >>> 0;
    // Time of the processor: on a busy machine a run waits for others through no fault of its own.
    const started = process.cpuUsage();
    executions++;
    try {
      await settled(target.run(makeRandom(own)));
    } catch (error) {
      found++;
      console.error(`${target.name}, seed ${own}:`, error);
    }
    const { user, system } = process.cpuUsage(started);
    const tookMs = (user + system) / 1000;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > maxRunMs) {
      found++;
      console.error(`${target.name}, seed ${own}: took ${Math.round(tookMs)} ms`);
    }
  }
  findings += found;
  console.log(`${target.name}: ${executions} executions, ${found} findings, slowest ${Math.round(slowestMs)} ms`);
}
process.exit(findings === 0 ? 0 : 1);
