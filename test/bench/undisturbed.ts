import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/**
 * A virtual machine shares its cores with others, and Linux tells how long it wanted a core and had none. A round in which that was
 * more than a hundredth of the time says more of the neighbours than of the program, so it is measured again, on both sides alike; of
 * several such rounds the least disturbed one counts.
 */
const tolerableShare = 0.01;
const maxTries = 3;
const msPerTick = 10;

let again = 0;
let disturbed = 0;

/** In milliseconds since the machine has started; 0 where it does not say. */
function stolenMs(): number {
  try {
    const [, , , , , , , , ticks] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").split(/\s+/);
    return (Number(ticks) || 0) * msPerTick;
  } catch {
    return 0;
  }
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** `restMs` before each try: what the other side has left to do, as collections of a process at rest, is done by then. */
export async function undisturbed<T>(measure: () => Promise<T>, restMs = 0): Promise<T> {
  let best: { value: T; share: number } | undefined;
  for (let tries = 1; ; tries++) {
    await rest(restMs);
    const [startedMs, stolenBefore] = [performance.now(), stolenMs()];
    const value = await measure();
    const share = (stolenMs() - stolenBefore) / ((performance.now() - startedMs) * cpus().length);
    if (!best || share < best.share) best = { value, share };
    if (best.share <= tolerableShare || tries === maxTries) break;
    again++;
  }
  if (best.share > tolerableShare) disturbed++;
  return best.value;
}

/** What a report says of it; since the last call. */
export function disturbances(): string | undefined {
  const text = `${again} rounds were measured again because others took over 1 % of the CPU; ${disturbed} are disturbed all the same`;
  const isQuiet = again === 0;
  again = 0;
  disturbed = 0;
  return isQuiet ? undefined : text;
}
