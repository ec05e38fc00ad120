import { benchConsole } from "./console.ts";
import { benchHistory } from "./history.ts";
import { benchHttp } from "./http.ts";
import { benchIngest } from "./ingest.ts";
import { benchLists } from "./lists.ts";
import { benchReplay } from "./replay.ts";
import { printReport, type Row } from "./report.ts";
import { benchRules } from "./rules.ts";
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
  console: benchConsole,
};

if (process.argv.includes("--help")) {
  console.log(`npm run bench -- [${Object.keys(benches).join("] [")}] [--quick]`);
  process.exit(0);
}
const wanted = process.argv.slice(2).filter((argument) => !/^(-|\d)/.test(argument));
const names = wanted.length > 0 ? wanted : Object.keys(benches);
for (const name of names) {
  const bench = benches[name];
  if (!bench) {
    console.error(`There is no bench "${name}". Known: ${Object.keys(benches).join(", ")}.`);
    process.exit(2);
  }
  printReport(name, await bench());
}
