import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Comparison, checkRuns } from "../simulation/check.ts";
import type { MeasuredRuns } from "../simulation/measured-run.ts";
import { type Capacity, capacityOf, defaultPlan, type Figures, type Plan } from "./model.ts";

const read = <T>(path: string): T => JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8")) as T;

export const readFigures = (): Figures => read("figures.json");
const runs = "../simulation/measured-runs.json";
/** Undefined: no run has been kept to compare with. */
export const readRuns = (): MeasuredRuns | undefined =>
  existsSync(join(import.meta.dirname, runs)) ? read(runs) : undefined;

const number = (value: number): string =>
  (value < 10 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString("en");

const lines: Record<string, (capacity: Capacity) => string> = {
  "packets a second on average": (one) => number(one.packetsPerSecond),
  "gateway, API and worker processes": (one) => `${one.gateways}, ${one.apis}, ${one.workers}`,
  "cores of the program": (one) => number(one.programCores),
  "cores of the database": (one) => number(one.databaseCores),
  "machines for the program; for the database": (one) => `${one.programMachines}; ${one.databaseMachines}`,
  "connections to the database": (one) => number(one.connections),
  "memory, GB": (one) => number(one.memoryGb),
  "disk of the database, GB": (one) => number(one.diskGb),
  "WAL in the busiest minute, MB a second": (one) => number(one.walMbPerSecond),
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
  const { packet, batch, row, delivery, read } = figures;
  const us = (one: Figures["read"]): string[] =>
    one ? [number(one.programUs), number(one.databaseUs)] : ["not measured", "not measured"];
  return table(
    ["", "CPU of the program, us", "CPU of the database, us", "WAL, bytes", "disk, bytes"],
    [
      ["a packet: an IW position with its readings", ...us(packet), number(packet.walBytes), number(packet.diskBytes)],
      ["a transaction of packets", ...us(batch), "", ""],
      ["a row of the outbound log", ...us(row), number(row.walBytes), number(row.diskBytes)],
      ["a delivery", ...us(delivery), "", ""],
      ["a call of the API", ...us(read), "", ""],
    ],
  );
}

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const pair = ({ measured, simulated, error }: { measured: number; simulated: number; error: number }): string =>
    `${number(measured)} / ${number(simulated)} (${error > 0 ? "+" : ""}${Math.round(error * 100)} %)`;
  return table(
    ["connections, load", "packets a second", "packets in a transaction", "p50, ms", "p99, ms"],
    comparisons.map(({ name, perSecond, packetsPerBatch, p50Ms, p99Ms }) => [
      name,
      ...[perSecond, packetsPerBatch, p50Ms, p99Ms].map(pair),
    ]),
  );
}

/** Each cell: measured / simulated (error). */
export function comparisonText(): string {
  const measured = readRuns();
  if (measured) return comparisonTable(checkRuns(measured));
  return "It has not been compared with a measured run yet, so do not believe its times. `npm run bench -- queues` on a quiet machine measures what it is to give, and `npm run capacity -- --check` compares.";
}

const sizes = [10_000, 100_000, 1_000_000, 10_000_000];

/** The page for operators, with tables that follow from the measured figures. */
export function capacityPage(template: string): string {
  const figures = readFigures();
  const plans = sizes.map((devices) => ({ ...defaultPlan, devices }));
  return template
    .replace("{{conditions}}", figures.conditions)
    .replace("{{figures}}", figuresTable(figures))
    .replace("{{capacity}}", capacityTable(plans, figures))
    .replace("{{comparison}}", comparisonText());
}
