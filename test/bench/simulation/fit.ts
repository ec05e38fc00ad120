import type { GatewayCosts } from "./gateway.ts";
import type { MeasuredRun, MeasuredRuns } from "./measured-run.ts";

/** What a packet and a batch cost, from runs with batches of different sizes. */
export interface Line {
  packet: number;
  batch: number;
}

/** The line through the CPU of packets over batches a packet, by least squares; no cost is below zero. */
export function fitLine(points: readonly { batchesPerPacket: number; cpuUs: number }[]): Line {
  const mean = (pick: (point: { batchesPerPacket: number; cpuUs: number }) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanX, meanY] = [mean((point) => point.batchesPerPacket), mean((point) => point.cpuUs)];
  const spread = mean(({ batchesPerPacket: x }) => (x - meanX) ** 2);
  const slope = spread === 0 ? 0 : mean(({ batchesPerPacket: x, cpuUs: y }) => (x - meanX) * (y - meanY)) / spread;
  const batch = Math.max(0, slope);
  return { batch, packet: Math.max(0, meanY - batch * meanX) };
}

/** How the program's time of a packet divides, by its profile: sockets and codec, evaluation and rows, answers. */
const programShares = { received: 0.3, stored: 0.45, answered: 0.25 };
/** How the database's time of a packet divides: keys and state rows before the copies, and the copies. */
const databaseShares = { updated: 0.4, copied: 0.6 };

/** `row` is what a row of the outbound log costs more, for packets that have one. */
export function costsOf(
  { runs, idle, roundTripUs }: MeasuredRuns,
  row = { programUs: 0, databaseUs: 0 },
): GatewayCosts {
  const points = (pick: (run: MeasuredRun) => number, idleUs: number) =>
    runs.map((run) => ({ batchesPerPacket: 1 / run.packetsPerBatch, cpuUs: pick(run) - idleUs / run.perSecond }));
  const program = fitLine(points(({ programUs }) => programUs, idle.programUs));
  const database = fitLine(points(({ databaseUs }) => databaseUs, idle.databaseUs));
  return {
    received: program.packet * programShares.received,
    stored: program.packet * programShares.stored,
    answered: program.packet * programShares.answered,
    programBatch: program.batch,
    updated: database.packet * databaseShares.updated,
    copied: database.packet * databaseShares.copied,
    databaseBatch: database.batch,
    told: row.programUs,
    logged: row.databaseUs,
    roundTripUs,
  };
}
