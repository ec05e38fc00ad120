import { accept, fallen, missing } from "./accepted.ts";
import { benchBusy } from "./busy.ts";
import { compareWith } from "./compare.ts";
import { benchConsole } from "./console.ts";
import { benchConsoleLists } from "./console-lists.ts";
import { benchCosts } from "./costs.ts";
import { benchHistory } from "./history.ts";
import { benchHttp } from "./http.ts";
import { benchIdle } from "./idle.ts";
import { benchIngest } from "./ingest.ts";
import { benchLists } from "./lists.ts";
import { benchProcesses } from "./processes.ts";
import { benchQueues } from "./queues.ts";
import { benchReadCosts } from "./read-costs.ts";
import { benchReplay } from "./replay.ts";
import { printReport, type Row } from "./report.ts";
import { benchRules } from "./rules.ts";
import { benchSlow } from "./slow.ts";
import { benchSpread } from "./spread.ts";
import { benchTenant } from "./tenant.ts";
import { benchUnitCosts } from "./unit-costs.ts";
import { benchWebhooks } from "./webhooks.ts";

/** `npm run bench -- http`: Vigil against the raw limit of the same work, in one run on one machine. */
const benches: Record<string, () => Promise<Row[]>> = {
  http: benchHttp,
  lists: benchLists,
  ingest: benchIngest,
  history: benchHistory,
  webhooks: benchWebhooks,
  rules: benchRules,
  replay: benchReplay,
};

/** Only when named: they need a browser, an hour, many open files or a Citus, make the disk slow, or print costs instead of ratios. */
const onDemand: typeof benches = {
  busy: benchBusy,
  console: benchConsole,
  "console-lists": benchConsoleLists,
  costs: benchCosts,
  idle: benchIdle,
  spread: benchSpread,
  processes: benchProcesses,
  "read-costs": benchReadCosts,
  queues: benchQueues,
  tenant: benchTenant,
  slow: benchSlow,
  "unit-costs": benchUnitCosts,
};
const known = { ...benches, ...onDemand };

if (process.argv.includes("--help")) {
  console.log(`npm run bench -- [${Object.keys(known).join("] [")}] [--quick] [--accept] [--compare COMMIT]

  Without a name: ${Object.keys(benches).join(", ")}. Each row is a ratio of two things that were measured in turns, with its 95 % interval.
  A row whose interval is worse than that of the last accepted run is reported as fallen.
  --quick           fewer rounds and sizes, where a bench has them
  --accept          writes the intervals of this run to test/bench/accepted-ratios.json
  --compare COMMIT  runs this tree and that commit in turns, both with the benches of this tree, and prints what changed`);
  process.exit(0);
}
const args = process.argv.slice(2);
const compareAt = args.indexOf("--compare");
const commit = compareAt < 0 ? undefined : args[compareAt + 1];
const wanted = args.filter(
  (argument, index) => !/^(-|\d|\/)/.test(argument) && (compareAt < 0 || index !== compareAt + 1),
);
const names = wanted.length > 0 ? wanted : Object.keys(benches);
const unknown = names.find((name) => !known[name]);
if (unknown) {
  console.error(`There is no bench "${unknown}". Known: ${Object.keys(known).join(", ")}.`);
  process.exit(2);
}
if (commit) {
  compareWith(
    commit,
    names,
    args.filter((argument) => argument === "--quick"),
  );
  process.exit(0);
}
for (const name of names) {
  const rows = await (known[name] as () => Promise<Row[]>)();
  printReport(name, rows);
  for (const fall of fallen(name, rows)) console.log(`  FELL below the accepted run: ${fall}`);
  // A quick run measures fewer rows on purpose.
  const lost = args.includes("--quick") ? [] : missing(name, rows);
  for (const row of lost) console.log(`  not measured, but in the accepted run: ${row}`);
  if (args.includes("--accept")) accept(name, rows);
}
