import { Disk } from "./disk.ts";
import { type GatewayCosts, type SimulatedDevice, SimulatedGateway } from "./gateway.ts";
import { Lanes } from "./lanes.ts";
import { Machine, type Thread } from "./machine.ts";

export interface Scenario {
  cores: number;
  gateways: number;
  devices: number;
  organizations: number;
  /** Packets a second of all devices; 0: each sends the next one when the last is answered. */
  rate: number;
  /** Microseconds of CPU that the devices themselves take for a packet, when they share the machine; one process for each gateway. */
  deviceUs: number;
  flushUs: number;
  costs: GatewayCosts;
  isLogging?: boolean;
  inFlight?: number;
  seconds?: number;
}

export interface Outcome {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  packetsPerBatch: number;
  /** Of all cores. */
  cpuShare: number;
}

const warmUpUs = 1_000_000;
const tickUs = 1100;

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Packets of devices through gateways for some seconds of simulated time, after one to warm up. */
export function simulate(scenario: Scenario): Outcome {
  const { cores, costs, deviceUs, rate, inFlight = 2, isLogging = false, seconds = 5 } = scenario;
  const machine = new Machine(cores);
  const parts = { machine, disk: new Disk(machine, scenario.flushUs), lanes: new Lanes(), costs, inFlight, isLogging };
  const gateways = Array.from({ length: scenario.gateways }, () => new SimulatedGateway(parts));
  const fields: Thread[] = gateways.map(() => machine.thread());
  const devices = Array.from({ length: scenario.devices }, (_, index): SimulatedDevice => {
    return { organization: index % scenario.organizations, isBusy: false };
  });
  const times: number[] = [];
  let sent = 0;

  const send = (device: SimulatedDevice, index: number): void => {
    const at = Math.floor((index * gateways.length) / devices.length);
    const field = fields[at] as Thread;
    machine.run(field, deviceUs / 2, () => {
      const sentUs = machine.nowUs;
      const settled = (): void =>
        machine.run(field, deviceUs / 2, () => {
          if (machine.nowUs >= warmUpUs) times.push(machine.nowUs - sentUs);
          if (rate === 0) send(device, index);
        });
      (gateways[at] as SimulatedGateway).receive({ device, settled });
    });
  };
  const tick = (): void => {
    for (const due = Math.floor((machine.nowUs / 1e6) * rate); sent < due; sent++) {
      const index = sent % devices.length;
      send(devices[index] as SimulatedDevice, index);
    }
    machine.after(tickUs, tick);
  };

  if (rate > 0) tick();
  else for (const [index, device] of devices.entries()) send(device, index);
  machine.advanceTo(warmUpUs);
  const sum = (pick: (gateway: SimulatedGateway) => number): number =>
    gateways.reduce((all, one) => all + pick(one), 0);
  const [packets, batches, busyUs] = [sum((one) => one.packets), sum((one) => one.batches), machine.busyUs];
  machine.advanceTo(warmUpUs + seconds * 1e6);
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / seconds,
    p50Ms: percentile(times, 0.5) / 1000,
    p99Ms: percentile(times, 0.99) / 1000,
    packetsPerBatch: (sum((one) => one.packets) - packets) / Math.max(1, sum((one) => one.batches) - batches),
    cpuShare: (machine.busyUs - busyUs) / (seconds * 1e6 * cores),
  };
}
