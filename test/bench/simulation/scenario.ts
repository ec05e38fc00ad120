import { Disk } from "./disk.ts";
import { type Collection, type GatewayCosts, type SimulatedDevice, SimulatedGateway } from "./gateway.ts";
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
  collections?: readonly Collection[];
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

const tickUs = 1100;
const lastAnswersUs = 10e6;

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** Packets of devices through gateways for some seconds of simulated time, as the devices of the benches send and count them. */
export function simulate(scenario: Scenario): Outcome {
  const { cores, costs, deviceUs, rate, inFlight = 2, isLogging = false, collections = [], seconds = 5 } = scenario;
  const machine = new Machine(cores);
  const shared = { machine, disk: new Disk(machine, scenario.flushUs), lanes: new Lanes() };
  const parts = { ...shared, costs, collections, inFlight, isLogging };
  const gateways = Array.from({ length: scenario.gateways }, () => new SimulatedGateway(parts));
  const fields: Thread[] = gateways.map(() => machine.thread());
  const devices = Array.from({ length: scenario.devices }, (_, index): SimulatedDevice => {
    return { organization: index % scenario.organizations, isBusy: false };
  });
  const endUs = seconds * 1e6;
  const times: number[] = [];
  let sent = 0;

  const send = (device: SimulatedDevice, index: number): void => {
    const at = Math.floor((index * gateways.length) / devices.length);
    const field = fields[at] as Thread;
    machine.run(field, deviceUs / 2, () => {
      const sentUs = machine.nowUs;
      const settled = (): void =>
        machine.run(field, deviceUs / 2, () => {
          times.push(machine.nowUs - sentUs);
          if (rate === 0 && machine.nowUs < endUs) send(device, index);
        });
      (gateways[at] as SimulatedGateway).receive({ device, settled });
    });
  };
  const tick = (): void => {
    for (const due = Math.floor((machine.nowUs / 1e6) * rate); sent < due; sent++) {
      const index = sent % devices.length;
      send(devices[index] as SimulatedDevice, index);
    }
    if (machine.nowUs < endUs) machine.after(tickUs, tick);
  };

  if (rate > 0) tick();
  else for (const [index, device] of devices.entries()) send(device, index);
  machine.advanceTo(endUs);
  const [answered, busyUs] = [times.length, machine.busyUs];
  machine.advanceTo(endUs + lastAnswersUs);
  times.sort((a, b) => a - b);
  const sum = (pick: (gateway: SimulatedGateway) => number): number =>
    gateways.reduce((all, one) => all + pick(one), 0);
  return {
    perSecond: answered / seconds,
    p50Ms: percentile(times, 0.5) / 1000,
    p99Ms: percentile(times, 0.99) / 1000,
    packetsPerBatch:
      sum((one) => one.packets) /
      Math.max(
        1,
        sum((one) => one.batches),
      ),
    cpuShare: busyUs / (endUs * cores),
  };
}
