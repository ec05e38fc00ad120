interface Cpu {
  programUs: number;
  databaseUs: number;
}

/** What was measured, and under which conditions: figures.json. CPU in microseconds; null: not measured, and counted as nothing. */
export interface Figures {
  conditions: string;
  packet: { programUs: number; databaseUs: number; walBytes: number; diskBytes: number };
  /** On top, for each transaction of packets. */
  batch: (Cpu & { waitUs: number }) | null;
  /** On top, for each row of the outbound log. */
  row: { programUs: number; databaseUs: number; walBytes: number; diskBytes: number };
  delivery: Cpu | null;
  read: Cpu | null;
  connectionBytes: number;
  deviceBytes: number;
  processBytes: number;
  /** Of the CPU of the database for a packet, what a coordinator of Citus keeps: state rows, log and what coordinates. */
  coordinatorShare: number;
  laneRowsPerSecond: number;
}

export interface Plan {
  devices: number;
  /** Seconds between the packets of a device. */
  interval: number;
  /** Integrations that are told of every packet. */
  partners: number;
  /** Calls of partners and consoles for each device and hour. */
  reads: number;
  days: number;
  /** The busiest minute against the average. */
  peak: number;
  /** How busy a core may be in that minute. */
  busy: number;
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
  reads: 6,
  days: 30,
  peak: 2,
  busy: 0.6,
  pricePerCoreHour: 0.04,
  pricePerTerabyteMonth: 100,
  machineCores: 32,
  diskTerabytes: 8,
};

export interface Capacity {
  packetsPerSecond: number;
  packetsPerBatch: number;
  gateways: number;
  apis: number;
  workers: number;
  programCores: number;
  databaseCores: number;
  programMachines: number;
  databaseMachines: number;
  connections: number;
  memoryGb: number;
  diskGb: number;
  walMbPerSecond: number;
  coreHours: number;
  money: number;
  /** What one PostgreSQL does not hold. */
  beyond: string[];
}

const hoursPerMonth = 730;
const nothing = { programUs: 0, databaseUs: 0, waitUs: 0 };
/** Of a process, as docs/operators/scaling.md counts them. */
const connectionsOf = { gateway: 12, api: 14, worker: 9 };
const devicesPerGateway = 100_000;

/** Packets that come while a transaction is in progress make the next one: its size follows from the rate and its duration. */
export function packetsPerBatch(perSecond: number, { packet, batch: measured }: Figures): number {
  const batch = measured ?? nothing;
  const fixedSeconds = (batch.programUs + batch.databaseUs + batch.waitUs) / 1e6;
  const eachSeconds = (packet.programUs + packet.databaseUs) / 1e6;
  const free = 1 - perSecond * eachSeconds;
  const count = free <= 0 ? Number.POSITIVE_INFINITY : (perSecond * fixedSeconds) / free;
  return Math.min(2000, Math.max(1, count));
}

export function capacityOf(plan: Plan, figures: Figures): Capacity {
  const { packet, row } = figures;
  const [batch, delivery, read] = [figures.batch ?? nothing, figures.delivery ?? nothing, figures.read ?? nothing];
  const average = plan.devices / plan.interval;
  const packets = average * plan.peak;
  const rows = packets * plan.partners;
  const reads = ((plan.devices * plan.reads) / 3600) * plan.peak;
  const processes = (coresBusy: number): number => Math.max(1, Math.ceil(coresBusy / plan.busy));

  let gateways = Math.max(1, Math.ceil(plan.devices / devicesPerGateway));
  let inBatch = 1;
  for (let turn = 0; turn < 20; turn++) {
    inBatch = packetsPerBatch(packets / gateways, figures);
    const cores = (packets * (packet.programUs + batch.programUs / inBatch) + rows * row.programUs) / 1e6;
    const wanted = Math.max(processes(cores), Math.ceil(plan.devices / devicesPerGateway));
    if (wanted <= gateways) break;
    gateways = wanted;
  }
  const apis = processes((reads * read.programUs) / 1e6);
  const workers = processes((rows * delivery.programUs) / 1e6);
  const packetCores = (packets * (packet.databaseUs + batch.databaseUs / inBatch)) / 1e6;
  const logCores = (rows * (row.databaseUs + delivery.databaseUs)) / 1e6;
  const readCores = (reads * read.databaseUs) / 1e6;
  const databaseCores = processes(packetCores + logCores + readCores);

  const perDay = average * 86_400;
  const diskGb =
    (perDay * plan.days * (packet.diskBytes + plan.partners * row.diskBytes) + plan.devices * figures.deviceBytes) /
    1e9;
  const walMbPerSecond = (packets * packet.walBytes + rows * row.walBytes) / 1e6;
  const programCores = gateways + apis + workers;
  const programBytes = programCores * figures.processBytes + plan.devices * figures.connectionBytes;
  const databaseBytes = 1e9 + plan.devices * 2 * figures.deviceBytes;

  const databaseMachines = Math.max(
    1,
    Math.ceil(databaseCores / plan.machineCores),
    Math.ceil(diskGb / 1000 / plan.diskTerabytes),
  );
  const beyond: string[] = [];
  if (readCores > 0.25 * plan.machineCores * plan.busy) beyond.push("a read replica");
  if (databaseMachines > 1) beyond.push("Citus");
  const logTerabytes = (perDay * plan.days * plan.partners * row.diskBytes) / 1e12;
  if (logTerabytes > plan.diskTerabytes) beyond.push("several installations: the log does not fit on the coordinator");
  const coordinator = processes(packetCores * figures.coordinatorShare + logCores);
  if (coordinator > plan.machineCores) beyond.push("several installations: the coordinator is full");
  if (rows > figures.laneRowsPerSecond) beyond.push("several installations: the log is locked all the time");
  const cores = programCores + databaseCores;
  return {
    packetsPerSecond: average,
    packetsPerBatch: inBatch,
    gateways,
    apis,
    workers,
    programCores,
    databaseCores,
    programMachines: Math.ceil(programCores / plan.machineCores),
    databaseMachines,
    connections: gateways * connectionsOf.gateway + apis * connectionsOf.api + workers * connectionsOf.worker,
    memoryGb: (programBytes + databaseBytes) / 1e9,
    diskGb,
    walMbPerSecond,
    coreHours: cores * hoursPerMonth,
    money: cores * hoursPerMonth * plan.pricePerCoreHour + (diskGb / 1000) * plan.pricePerTerabyteMonth,
    beyond: [...new Set(beyond)],
  };
}
