import type { Collection, GatewayCosts } from "./gateway.ts";
import type { MeasuredRun, MeasuredRuns } from "./measured-run.ts";

/** What a packet and a batch cost, from runs with batches of different sizes. */
export interface Line {
  packet: number;
  batch: number;
}

/**
 * The line through the CPU of packets over batches a packet, by least squares of relative errors: packets of full batches cost a
 * tenth of those that come alone, and are to be met as well. No cost is below zero.
 */
export function fitLine(points: readonly { batchesPerPacket: number; cpuUs: number }[]): Line {
  const sum = (pick: (x: number, y: number) => number): number =>
    points.reduce((all, { batchesPerPacket: x, cpuUs: y }) => all + pick(x, y) / y ** 2, 0);
  const [weight, meanX, meanY] = [sum(() => 1), sum((x) => x) / sum(() => 1), sum((_, y) => y) / sum(() => 1)];
  const spread = sum((x) => (x - meanX) ** 2) / weight;
  const slope = spread < 1e-12 ? 0 : sum((x, y) => (x - meanX) * (y - meanY)) / weight / spread;
  const batch = Math.max(0, slope);
  return { batch, packet: Math.max(0, meanY - batch * meanX) };
}

/** How the program's time of a packet divides, by its profile: sockets and codec, evaluation and rows, answers. */
const programShares = { received: 0.3, stored: 0.45, answered: 0.25 };
/** How the database's time of a packet divides: keys and state rows before the copies, and the copies. */
const databaseShares = { updated: 0.4, copied: 0.6 };

/** Of a packet, in pauses of the program. */
const garbageUs = ({ perSecond, minorGc, majorGc }: MeasuredRun): number =>
  [minorGc, majorGc].reduce((sum, { perSecond: count, ms }) => sum + (count * ms * 1000) / perSecond, 0);

export const collectionsOf = ({ perSecond, minorGc, majorGc }: MeasuredRun): Collection[] =>
  [minorGc, majorGc].flatMap(({ perSecond: count, ms }) =>
    count > 0 ? [{ packets: perSecond / count, pauseUs: ms * 1000 }] : [],
  );

interface BothLines {
  program: Line;
  database: Line;
}

/** Of the runs that are given, without what the service takes when nothing happens and without pauses for garbage. */
function linesOf(runs: readonly MeasuredRun[], { idle }: MeasuredRuns): BothLines {
  const points = (pick: (run: MeasuredRun) => number, idleUs: number) =>
    runs.map((run) => ({ batchesPerPacket: 1 / run.packetsPerBatch, cpuUs: pick(run) - idleUs / run.perSecond }));
  return {
    program: fitLine(points((run) => run.programUs - garbageUs(run), idle.programUs)),
    database: fitLine(points(({ databaseUs }) => databaseUs, idle.databaseUs)),
  };
}

const at = ({ packet, batch }: Line, packetsPerBatch: number): number => packet + batch / packetsPerBatch;

/**
 * What the parts of a packet cost in a run. The line is that of all runs with as many devices and partners: the cost of a packet
 * grows with what the program has to remember. It is moved to what this run cost, because the speed of a shared machine changes by
 * a third from one run to the next. What packets of partners cost more belongs to their rows of the log.
 */
export function costsOf(run: MeasuredRun, measured: MeasuredRuns): GatewayCosts {
  const { idle, roundTripUs } = measured;
  const linesWith = (partners: 0 | 1): BothLines =>
    linesOf(
      measured.runs.filter((one) => one.devices === run.devices && one.partners === partners),
      measured,
    );
  const { program, database } = linesWith(run.partners);
  const plain = linesWith(0);
  const programUs = run.programUs - garbageUs(run) - idle.programUs / run.perSecond;
  const databaseUs = run.databaseUs - idle.databaseUs / run.perSecond;
  const speed = {
    program: programUs / at(program, run.packetsPerBatch),
    database: databaseUs / at(database, run.packetsPerBatch),
  };
  const told = Math.max(0, program.packet - plain.program.packet);
  const logged = Math.max(0, database.packet - plain.database.packet);
  const ofProgram = (program.packet - told) * speed.program;
  const ofDatabase = (database.packet - logged) * speed.database;
  return {
    received: ofProgram * programShares.received,
    stored: ofProgram * programShares.stored,
    answered: ofProgram * programShares.answered,
    programBatch: program.batch * speed.program,
    updated: ofDatabase * databaseShares.updated,
    copied: ofDatabase * databaseShares.copied,
    databaseBatch: database.batch * speed.database,
    told: told * speed.program,
    logged: logged * speed.database,
    roundTripUs,
  };
}
