import type { Timings } from "./device-options.ts";
import type { React } from "./device-protocol.ts";
import type { OpenLink } from "./link.ts";
import type { Tally } from "./tally.ts";
import type { TimerWheel } from "./timer-wheel.ts";

/** What all devices of a simulation share. */
export interface World {
  nowMs(): number;
  /** The time in the lives of people; it may pass faster than that on the wire. */
  lifeMs(nowMs: number): number;
  /** And back. */
  wireMs(lifeMs: number): number;
  wheel: TimerWheel;
  tally: Tally;
  timings: Timings;
  intervalMs: number;
  hasNoise: boolean;
  openLink: OpenLink;
  /** What devices do with what they receive. */
  react: React;
}
