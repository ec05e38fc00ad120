import type { Figures } from "./figures.ts";

export interface Plan {
  devices: number;
  /** Seconds between the packets of a device. */
  interval: number;
  /** Integrations of an organization that are told of every packet of its devices by push. */
  partners: number;
  devicesPerOrganization: number;
  /** Milliseconds until a receiver has answered. */
  receiverMs: number;
  /** Calls of partners and consoles for each device and hour. */
  reads: number;
  /** For which positions and readings are kept. */
  days: number;
  /** For which the outbound log and its attempts are kept. */
  logDays: number;
  /** The busiest minute against the average. */
  peak: number;
  /** How busy a core may be in that minute. */
  busy: number;
  /** Seconds between checkpoints of the database. */
  checkpoint: number;
  pricePerCoreHour: number;
  pricePerTerabyteMonth: number;
  /** The largest machine that is to be bought. */
  machineCores: number;
  diskTerabytes: number;
}

export const defaultPlan: Plan = {
  devices: 10_000,
  interval: 60,
  partners: 1,
  devicesPerOrganization: 1000,
  receiverMs: 50,
  reads: 6,
  days: 30,
  logDays: 30,
  peak: 2,
  busy: 0.6,
  checkpoint: 900,
  pricePerCoreHour: 0.04,
  pricePerTerabyteMonth: 100,
  machineCores: 32,
  diskTerabytes: 16,
};

export interface Capacity {
  packetsPerSecond: number;
  packetsPerBatch: number;
  gateways: number;
  apis: number;
  workers: number;
  programCores: number;
  databaseCores: number;
  coordinatorCores: number;
  programMachines: number;
  databaseMachines: number;
  connections: number;
  programGb: number;
  databaseGb: number;
  diskGb: number;
  walMbPerSecond: number;
  maxWalGb: number;
  coreHours: number;
  money: number;
  /** What one PostgreSQL does not hold. */
  beyond: string[];
}

const hoursPerMonth = 730;
/** Keys of frames are kept so long, whatever else is. */
const keyDays = 42;
/** Of a process, as docs/operators/scaling.md counts them. */
const connectionsOf = { gateway: 12, api: 14, worker: 9 };
const devicesPerGateway = 100_000;
const requestsPerLane = 32;
/** PostgreSQL begins a checkpoint when a good half of `max_wal_size` is written. */
const walSpareFactor = 2;

/** Packets that come while a transaction is in progress make the next one: its size follows from the rate and its duration. */
export function packetsPerBatch(
  perSecond: number,
  partners: number,
  { packet, batch, row, rowBatch }: Figures,
): number {
  const both = ({ programUs, databaseUs }: { programUs: number; databaseUs: number }): number => programUs + databaseUs;
  const fixedSeconds = (both(batch) + (partners > 0 ? both(rowBatch) : 0)) / 1e6;
  const eachSeconds = (both(packet) + partners * both(row)) / 1e6;
  const free = 1 - perSecond * eachSeconds;
  const count = free <= 0 ? Number.POSITIVE_INFINITY : (perSecond * fixedSeconds) / free;
  return Math.min(1000, Math.max(1, count));
}

/** What the packets that a device sends between two checkpoints write to the log beyond the usual, in sum. */
export function firstTouchBytes(packets: number, { firstTouchWalBytes: after }: Figures): number {
  if (packets <= 1) return packets * (after[0] ?? 0);
  const whole = Math.floor(packets);
  const sum = after.slice(0, whole).reduce((all, bytes) => all + bytes, 0);
  return sum + (packets - whole) * (after[whole] ?? 0);
}

export function capacityOf(plan: Plan, figures: Figures): Capacity {
  const { packet, batch, row, rowBatch, delivery, call } = figures;
  const average = plan.devices / plan.interval;
  const packets = average * plan.peak;
  const rows = packets * plan.partners;
  const calls = ((plan.devices * plan.reads) / 3600) * plan.peak;
  const processes = (coresBusy: number): number => Math.max(1, Math.ceil(coresBusy / plan.busy));
  /** Of one side for all packets with their rows, in cores. */
  const ofPackets = (side: "programUs" | "databaseUs", count: number): number => {
    const ofBatch = batch[side] + (plan.partners > 0 ? rowBatch[side] : 0);
    return (packets * (packet[side] + ofBatch / count) + rows * row[side]) / 1e6;
  };

  let gateways = Math.max(1, Math.ceil(plan.devices / devicesPerGateway));
  let inBatch = 1;
  for (let turn = 0; turn < 20; turn++) {
    inBatch = packetsPerBatch(packets / gateways, plan.partners, figures);
    const wanted = Math.max(gateways, processes(ofPackets("programUs", inBatch)));
    if (wanted === gateways) break;
    gateways = wanted;
  }
  const apis = processes((calls * call.programUs) / 1e6);
  const workers = processes((rows * delivery.programUs) / 1e6);
  const connections = gateways * connectionsOf.gateway + apis * connectionsOf.api + workers * connectionsOf.worker;
  const programCores = gateways + apis + workers;
  const programBytes = programCores * figures.processBytes + plan.devices * figures.connectionBytes;

  const betweenCheckpoints = plan.checkpoint / plan.interval;
  const touchedBytes = firstTouchBytes(betweenCheckpoints, figures);
  const walBytes =
    packets * (packet.walBytes + touchedBytes / betweenCheckpoints) + rows * (row.walBytes + delivery.walBytes);
  const maxWalBytes = walSpareFactor * walBytes * plan.checkpoint;
  const perDay = average * 86_400;
  const logBytes = perDay * plan.logDays * plan.partners * (row.diskBytes + delivery.diskBytes);
  const historyBytes = perDay * (plan.days * packet.historyBytes + keyDays * packet.keyBytes);
  const diskGb = (historyBytes + logBytes + maxWalBytes + plan.devices * figures.deviceBytes) / 1e9;

  const logCores = (rows * delivery.databaseUs) / 1e6;
  const [packetCores, callCores] = [ofPackets("databaseUs", inBatch), (calls * call.databaseUs) / 1e6];
  const machinesFor = (cores: number): number =>
    Math.max(Math.ceil(cores / plan.machineCores), Math.ceil(diskGb / 1000 / plan.diskTerabytes));
  const coresAlone = processes(packetCores + logCores + callCores);
  const isSpread = machinesFor(coresAlone) > 1;
  const { citus } = figures;
  const databaseCores = isSpread
    ? processes(packetCores * citus.packet + logCores + callCores * citus.call)
    : coresAlone;
  const coordinatorCores = processes(packetCores * figures.coordinatorShare + logCores);
  const databaseMachines = machinesFor(databaseCores);
  // The pages that change between two checkpoints are to stay in memory.
  const databaseBytes =
    1e9 + plan.devices * (figures.deviceBytes + touchedBytes) + connections * figures.databaseConnectionBytes;

  const beyond: string[] = [];
  if (callCores > 0.25 * plan.machineCores * plan.busy) beyond.push("a read replica");
  if (isSpread) beyond.push("Citus");
  if (logBytes / 1e12 > plan.diskTerabytes)
    beyond.push("several installations: the log does not fit on the coordinator");
  if (coordinatorCores > plan.machineCores) beyond.push("several installations: the coordinator is full");
  if (rows > figures.laneRowsPerSecond) beyond.push("several installations: the log is locked all the time");
  const lanes = Math.max(1, plan.devices / plan.devicesPerOrganization) * plan.partners;
  if (rows / lanes > requestsPerLane / (plan.receiverMs / 1000)) beyond.push("replay: push is too slow for a partner");
  const cores = programCores + databaseCores;
  return {
    packetsPerSecond: average,
    packetsPerBatch: inBatch,
    gateways,
    apis,
    workers,
    programCores,
    databaseCores,
    coordinatorCores,
    programMachines: Math.ceil(programCores / plan.machineCores),
    databaseMachines,
    connections,
    programGb: programBytes / 1e9,
    databaseGb: databaseBytes / 1e9,
    diskGb,
    walMbPerSecond: walBytes / 1e6,
    maxWalGb: maxWalBytes / 1e9,
    coreHours: cores * hoursPerMonth,
    money: cores * hoursPerMonth * plan.pricePerCoreHour + (diskGb / 1000) * plan.pricePerTerabyteMonth,
    beyond,
  };
}
