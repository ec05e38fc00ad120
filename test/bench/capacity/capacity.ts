import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkRuns } from "../simulation/check.ts";
import { readFigures, readRuns } from "./figures.ts";
import { defaultPlan, type Plan } from "./model.ts";
import { capacityPage, capacityTable, comparisonTable, errorsText, figuresTable } from "./page.ts";

/**
 * `npm run capacity -- --devices 100000 --interval 30 --price-per-core-hour 0.05`: what a number of devices needs, from measured
 * figures. `--check`: the simulation of the queues against measured runs. `--page` writes docs/operators/capacity.md.
 */
const root = join(import.meta.dirname, "../../..");
const optionOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const names = Object.keys(defaultPlan) as (keyof Plan)[];
const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
    print: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    ...Object.fromEntries(names.map((name) => [optionOf(name), { type: "string" as const }])),
  },
});
const given = values as Record<string, string | boolean | undefined>;

if (values.help) {
  for (const name of names) console.log(`  --${optionOf(name)} ${defaultPlan[name]}`);
} else if (values.check) {
  const comparisons = checkRuns(readRuns());
  console.log(`${comparisonTable(comparisons)}\n\n${errorsText(comparisons)}`);
} else if (values.page || values.print) {
  const page = capacityPage(readFileSync(join(import.meta.dirname, "capacity-template.md"), "utf8"));
  if (values.print) process.stdout.write(page);
  else writeFileSync(join(root, "docs/operators/capacity.md"), page);
} else {
  const plan = { ...defaultPlan };
  for (const name of names) {
    const value = given[optionOf(name)];
    if (value === undefined) continue;
    if (!(Number(value) > 0) && !(value === "0" && (name === "partners" || name === "reads"))) {
      console.error(`--${optionOf(name)} must be a number above 0, not "${value}".`);
      process.exit(2);
    }
    plan[name] = Number(value);
  }
  const figures = readFigures();
  console.log(`${capacityTable([plan], figures)}\n\n${figuresTable(figures)}\n\n${figures.conditions}`);
}
