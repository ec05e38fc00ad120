import { setup } from "../support/global-setup.ts";
import { simulateDay } from "../support/simulated-day.ts";
import type { FaultOptions } from "./faults.ts";

/** A whole day of 200 people, a report a minute. Rounds are days of other people. */
export async function dayFaults({ rounds, seed }: FaultOptions): Promise<boolean> {
  const close = await setup();
  let isRight = true;
  try {
    for (let round = 0; round < rounds; round++) {
      const options = { people: 200, seed: seed + round, from: 0, to: 24, reportSeconds: 60, log: console.log };
      const { packets, wanted, misses, falseAlarms, undecided } = await simulateDay(options);
      const { enter, exit, dwell } = wanted;
      console.log(
        `  ${packets} packets; ${enter} times entered, ${exit} left, ${dwell} stayed: ${misses.length} missed, ${falseAlarms.length} false alarms, ${undecided} told of people on the very boundary`,
      );
      for (const line of [...misses.map((miss) => `missed ${miss}`), ...falseAlarms].slice(0, 20))
        console.log(`  ${line}`);
      isRight &&= misses.length === 0 && falseAlarms.length === 0;
    }
  } finally {
    await close();
  }
  return isRight;
}
