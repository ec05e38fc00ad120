import type { Clock } from "../lib/clock.ts";
import { type Timings, watchTimings } from "./device-options.ts";
import type { FleetTransport, React } from "./device-protocol.ts";
import { type FleetMember, makeProtocols } from "./fleet.ts";
import { makeLinks } from "./link.ts";
import { Tally } from "./tally.ts";
import { TimerWheel } from "./timer-wheel.ts";
import { makeUdpLinks } from "./udp-link.ts";
import { VirtualDevice } from "./virtual-device.ts";
import type { World } from "./world.ts";

export interface SimulationOptions {
  fleet: readonly FleetMember[];
  host: string;
  port: number;
  /** TCP unless it is said. */
  transport?: FleetTransport;
  clock: Clock;
  intervalMs: number;
  /** Life passes this many times as fast as the clock; reports keep their interval and carry the time of the clock. */
  speed?: number;
  /** The time in the lives of people at the start; the default is that of the clock. */
  lifeStartMs?: number;
  hasNoise?: boolean;
  connectsPerSecond?: number;
  timings?: Partial<Timings>;
  /** Devices obey unless this says otherwise; for tests and drills. */
  react?: React;
}

export interface Simulation {
  tally: Tally;
  devices: readonly VirtualDevice[];
  /** For the truth: the time in the lives of people at a time on the wire. */
  lifeMs(nowMs: number): number;
  close(): void;
}

const tickMs = 50;

/** Switches the devices on, a few at a time, and lets them live until it is closed. */
export function startSimulation(options: SimulationOptions): Simulation {
  const { clock, fleet, speed = 1, connectsPerSecond = 1000, transport = "tcp" } = options;
  const startMs = clock.nowMs();
  const lifeStartMs = options.lifeStartMs ?? startMs;
  const tally = new Tally();
  const wheel = new TimerWheel(startMs, tickMs);
  const world: World = {
    nowMs: () => clock.nowMs(),
    lifeMs: (nowMs) => lifeStartMs + (nowMs - startMs) * speed,
    wireMs: (lifeMs) => startMs + (lifeMs - lifeStartMs) / speed,
    wheel,
    tally,
    timings: { ...watchTimings, ...options.timings },
    intervalMs: options.intervalMs,
    hasNoise: options.hasNoise ?? true,
    openLink: (transport === "udp" ? makeUdpLinks : makeLinks)(options.host, options.port),
    react: options.react ?? (() => "obey"),
  };
  const protocolOf = makeProtocols(transport);
  const devices = fleet.map((member) => new VirtualDevice(member, protocolOf(member), world));

  let started = 0;
  const tick = (): void => {
    const nowMs = clock.nowMs();
    const allowed = Math.min(devices.length, 1 + Math.floor(((nowMs - startMs) / 1000) * connectsPerSecond));
    for (; started < allowed; started++) devices[started]?.start(nowMs);
    wheel.advance(nowMs);
  };
  const timer = setInterval(tick, tickMs);
  tick();
  return {
    tally,
    devices,
    lifeMs: world.lifeMs,
    close: () => {
      clearInterval(timer);
      for (const device of devices) device.close();
    },
  };
}
