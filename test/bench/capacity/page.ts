import { type Comparison, checkRuns, type Pair } from "../simulation/check.ts";
import { type Figures, readFigures, readRuns } from "./figures.ts";
import type { UnitCost } from "./measured-units.ts";
import { type Capacity, capacityOf, defaultPlan, type Plan } from "./model.ts";

const number = (value: number): string =>
  (value < 10 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString("en");

const lines: Record<string, (capacity: Capacity) => string> = {
  "packets a second on average": (one) => number(one.packetsPerSecond),
  "packets in a transaction": (one) => number(one.packetsPerBatch),
  "gateway, API and worker processes": (one) => `${one.gateways}, ${one.apis}, ${one.workers}`,
  "cores of the program": (one) => number(one.programCores),
  "cores of the database; of them of a coordinator": (one) =>
    `${number(one.databaseCores)}; ${number(one.coordinatorCores)}`,
  "machines for the program; for the database": (one) => `${one.programMachines}; ${one.databaseMachines}`,
  "connections to the database": (one) => number(one.connections),
  "memory of the program; of the database, GB": (one) => `${number(one.programGb)}; ${number(one.databaseGb)}`,
  "disk of the database, GB": (one) => number(one.diskGb),
  "WAL in the busiest minute, MB a second": (one) => number(one.walMbPerSecond),
  "`max_wal_size` for these checkpoints, GB": (one) => number(one.maxWalGb),
  "core-hours a month": (one) => number(one.coreHours),
  "money a month": (one) => number(one.money),
  "beyond one PostgreSQL": (one) => one.beyond.join("; ") || "no",
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export function capacityTable(plans: readonly Plan[], figures: Figures): string {
  const found = plans.map((plan) => capacityOf(plan, figures));
  const head = ["devices", ...plans.map(({ devices }) => devices.toLocaleString("en"))];
  return table(
    head,
    Object.entries(lines).map(([name, text]) => [name, ...found.map(text)]),
  );
}

export function figuresTable(figures: Figures): string {
  const { packet, batch, row, rowBatch, delivery, deliveryFromBacklog, call, calls } = figures;
  const line = (what: string, { programUs, databaseUs }: UnitCost, wal?: number, disk?: number): string[] => {
    const bytes = [wal, disk].map((value) => (value === undefined ? "" : number(value)));
    return [what, number(programUs), number(databaseUs), ...bytes];
  };
  return table(
    ["", "CPU of the program, us", "CPU of the database, us", "WAL, bytes", "disk, bytes"],
    [
      line(
        "a packet: an IW position with its readings",
        packet,
        packet.walBytes,
        packet.historyBytes + packet.keyBytes,
      ),
      line("and for each transaction of packets", batch),
      line("a row of the outbound log, beyond its packet", row, row.walBytes, row.diskBytes),
      line("and for each transaction with such rows", rowBatch),
      line("a delivery, beyond its row", delivery, delivery.walBytes, delivery.diskBytes),
      line("a delivery of a long backlog, for comparison", deliveryFromBacklog),
      line("a call of the API, the mean of these:", call),
      ...Object.entries(calls).map(([what, cost]) => line(what, cost)),
    ],
  );
}

export function memoryText(figures: Figures): string {
  const { connectionBytes, processBytes, deviceBytes, databaseConnectionBytes, firstTouchWalBytes } = figures;
  const first = firstTouchWalBytes.slice(0, 3).map(number).join(", ");
  const last = number(firstTouchWalBytes.at(-1) ?? 0);
  return [
    `A device has ${number(deviceBytes)} bytes in the database apart from its history. A process of the program takes ${number(processBytes / 1e6)} MB,`,
    `a connection of a device that sends all the time ${number(connectionBytes / 1000)} KB, a connection to the database ${number(databaseConnectionBytes / 1e6)} MB.`,
    `The first packets of a device after a checkpoint write ${first} … bytes more to the WAL, the ${firstTouchWalBytes.length}th still ${last}: PostgreSQL`,
    "writes each page as a whole when it changes for the first time, and devices with much history share none. That was measured with 500 devices that had sent a packet a minute for a day, without `wal_compression`.",
  ].join("\n");
}

/** Runs of one kind, which differ as the machine does. */
interface Kind {
  name: string;
  runs: Comparison[];
}

const columns = {
  "packets a second": "perSecond",
  "packets in a transaction": "packetsPerBatch",
  "p50, ms": "p50Ms",
  "p99, ms": "p99Ms",
  "cores busy": "cpuShare",
} as const;
type Column = (typeof columns)[keyof typeof columns];

const kindsOf = (comparisons: readonly Comparison[]): Kind[] =>
  [...new Set(comparisons.map(({ name }) => name))].map((name) => ({
    name,
    runs: comparisons.filter((one) => one.name === name),
  }));

/** Of what was measured, over the runs of a kind: 0.1 is a tenth too high. */
function errorOf({ runs }: Kind, column: Column): number {
  const sum = (side: keyof Pair): number => runs.reduce((all, run) => all + run[column][side], 0);
  return sum("simulated") / sum("measured") - 1;
}

const percent = (share: number): string => `${share > 0 ? "+" : ""}${Math.round(share * 100)} %`;

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const cell = (kind: Kind, column: Column): string => {
    const all = (side: keyof Pair): string => kind.runs.map((run) => number(run[column][side])).join(", ");
    return `${all("measured")} / ${all("simulated")} (${percent(errorOf(kind, column))})`;
  };
  return table(
    ["connections, load", ...Object.keys(columns)],
    kindsOf(comparisons).map((kind) => [kind.name, ...Object.values(columns).map((column) => cell(kind, column))]),
  );
}

/** How far the simulation is from what was measured. */
export function errorsText(comparisons: readonly Comparison[]): string {
  const kinds = kindsOf(comparisons);
  const range = (of: readonly Kind[], column: Column): string => {
    const errors = of.map((kind) => errorOf(kind, column));
    return `${percent(Math.min(...errors))} to ${percent(Math.max(...errors))}`;
  };
  const full = kinds.filter(({ name }) => name.includes("full"));
  const partial = kinds.filter((kind) => !full.includes(kind));
  return [
    `At full load packets a second come out ${range(full, "perSecond")} of what was measured, p50 ${range(full, "p50Ms")}, p99 ${range(full, "p99Ms")}, packets in a transaction ${range(full, "packetsPerBatch")}.`,
    `Below full load p50 comes out ${range(partial, "p50Ms")}, packets in a transaction ${range(partial, "packetsPerBatch")}, and p99 ${range(partial, "p99Ms")}.`,
  ].join(" ");
}

const sizes = [10_000, 100_000, 1_000_000, 10_000_000];

/** The page for operators, all of whose figures follow from what was measured. */
export function capacityPage(template: string): string {
  const figures = readFigures();
  const plans = sizes.map((devices) => ({ ...defaultPlan, devices }));
  const runs = readRuns();
  const comparisons = checkRuns(runs);
  return template
    .replace("{{conditions}}", figures.conditions)
    .replace("{{figures}}", figuresTable(figures))
    .replace("{{memory}}", memoryText(figures))
    .replace("{{capacity}}", capacityTable(plans, figures))
    .replace("{{comparison}}", comparisonTable(comparisons))
    .replace("{{errors}}", errorsText(comparisons));
}
