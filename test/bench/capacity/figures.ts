import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fitLine } from "../simulation/fit.ts";
import type { MeasuredRun, MeasuredRuns } from "../simulation/measured-run.ts";
import type { MeasuredUnits, UnitCost } from "./measured-units.ts";

interface Written extends UnitCost {
  walBytes: number;
}

/** What one of everything costs. CPU in microseconds. */
export interface Figures {
  packet: Written & { historyBytes: number; keyBytes: number };
  /** On top, for each transaction of packets. */
  batch: UnitCost;
  /** On top, for each row of the outbound log, and for each transaction that has some. */
  row: Written & { diskBytes: number };
  rowBatch: UnitCost;
  delivery: Written & { diskBytes: number };
  deliveryFromBacklog: UnitCost;
  call: UnitCost;
  calls: Record<string, UnitCost>;
  connectionBytes: number;
  processBytes: number;
  deviceBytes: number;
  databaseConnectionBytes: number;
  /** What the first, second … packet of a device after a checkpoint writes to the log of the database beyond the usual. */
  firstTouchWalBytes: readonly number[];
  /** Of the CPU of the database for a packet, what a coordinator of Citus keeps. */
  coordinatorShare: number;
  /** How many times the CPU of one server Citus takes. */
  citus: { packet: number; call: number };
  /** What the locks of the outbound log let through. */
  laneRowsPerSecond: number;
  conditions: string;
}

/** Figures that no command writes: each with where it comes from. */
interface OtherFigures {
  lane: { rowsPerSecond: number; source: string };
  coordinatorShare: { share: number; source: string };
  citus: { packet: number; call: number; source: string };
}

const read = <T>(path: string): T => JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8")) as T;
export const readRuns = (): MeasuredRuns => read("../simulation/measured-runs.json");
export const readFigures = (): Figures =>
  figuresOf(readRuns(), read("measured-units.json"), read("other-figures.json"));

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const above = (value: number): number => Math.max(0, value);

export function figuresOf(measured: MeasuredRuns, units: MeasuredUnits, other: OtherFigures): Figures {
  const { idle, bytes } = measured;
  const ofRuns = (partners: number, pick: (run: MeasuredRun) => number) =>
    fitLine(
      measured.runs
        .filter((run) => run.partners === partners)
        .map((run) => ({ batchesPerPacket: 1 / run.packetsPerBatch, cpuUs: pick(run) })),
    );
  const lines = (partners: number) => ({
    program: ofRuns(partners, ({ programUs, perSecond }) => programUs - idle.programUs / perSecond),
    database: ofRuns(partners, ({ databaseUs, perSecond }) => databaseUs - idle.databaseUs / perSecond),
  });
  const [plain, told] = [lines(0), lines(1)];
  // At full load: at low rates what the first touch of pages writes outweighs all else.
  const walAtFullLoad = (partners: number): number =>
    Math.min(
      ...measured.runs.filter((run) => run.rate === 0 && run.partners === partners).map(({ walBytes }) => walBytes),
    );
  const calls = Object.values(units.calls);
  const memory = memoryOf(measured.runs);
  return {
    packet: {
      programUs: plain.program.packet,
      databaseUs: plain.database.packet,
      walBytes: walAtFullLoad(0),
      historyBytes: bytes.history,
      keyBytes: bytes.keys,
    },
    batch: { programUs: plain.program.batch, databaseUs: plain.database.batch },
    row: {
      programUs: above(told.program.packet - plain.program.packet),
      databaseUs: above(told.database.packet - plain.database.packet),
      walBytes: above(walAtFullLoad(1) - walAtFullLoad(0)),
      diskBytes: bytes.log,
    },
    rowBatch: {
      programUs: above(told.program.batch - plain.program.batch),
      databaseUs: above(told.database.batch - plain.database.batch),
    },
    delivery: units.delivery,
    deliveryFromBacklog: units.deliveryFromBacklog,
    call: {
      programUs: mean(calls.map(({ programUs }) => programUs)),
      databaseUs: mean(calls.map(({ databaseUs }) => databaseUs)),
    },
    calls: units.calls,
    ...memory,
    deviceBytes: units.deviceBytes,
    databaseConnectionBytes: units.databaseConnectionBytes,
    firstTouchWalBytes: units.firstTouchWalBytes,
    coordinatorShare: other.coordinatorShare.share,
    citus: other.citus,
    laneRowsPerSecond: other.lane.rowsPerSecond,
    conditions: [
      `Packets, transactions and rows: \`queues\`, ${measured.conditions}.`,
      `Deliveries, calls, bytes of a device, first packets after a checkpoint: \`unit-costs\`, ${units.conditions}.`,
      `The lock of the log: ${other.lane.source}. Citus: ${other.citus.source}; ${other.coordinatorShare.source}.`,
    ].join(" "),
  };
}

/** A connection that sends as fast as it can, and a process without any: before devices of larger runs have left their memory. */
function memoryOf(runs: readonly MeasuredRun[]): { connectionBytes: number; processBytes: number } {
  const many = Math.max(...runs.map(({ devices }) => devices));
  const first = runs.findIndex(({ devices }) => devices === many);
  const few = runs.slice(0, first);
  const [fewBytes, manyBytes] = [few, runs.filter(({ devices }) => devices === many)].map((some) =>
    Math.max(...some.map(({ memoryBytes }) => memoryBytes)),
  ) as [number, number];
  const fewDevices = few[0]?.devices ?? 0;
  const connectionBytes = above(manyBytes - fewBytes) / (many - fewDevices);
  return { connectionBytes, processBytes: above(fewBytes - fewDevices * connectionBytes) };
}
