import { backupFaults } from "./backup.ts";
import { clusterFaults } from "./cluster.ts";
import { commandFaults } from "./commands.ts";
import { dayFaults } from "./day.ts";
import { followFaults } from "./follow.ts";
import { hostileFaults } from "./hostile.ts";
import { ingestFaults } from "./ingest.ts";
import { outboundFaults } from "./outbound.ts";
import { protocolFaults } from "./protocols.ts";
import { replayFaults } from "./replay.ts";

/**
 * `npm run faults -- ingest|outbound|replay|follow|commands|backup|cluster [--rounds 20] [--seed N]`: promises that only a crash can break. `day`: a day of simulated people
 * against what the fences tell of it. `protocols`: an hour of one device of every model, with every command and alarm. `hostile [--minutes 10]`: all attacks at once beside honest watches that call for help.
 */
const faults: Record<string, (options: FaultOptions) => Promise<boolean>> = {
  ingest: ingestFaults,
  outbound: outboundFaults,
  replay: replayFaults,
  follow: followFaults,
  commands: commandFaults,
  backup: backupFaults,
  cluster: clusterFaults,
  day: dayFaults,
  protocols: protocolFaults,
  hostile: hostileFaults,
};
const defaultRounds: Record<string, number> = { day: 1 };

export interface FaultOptions {
  rounds: number;
  seed: number;
  /** Of runs that last for a time. */
  minutes?: number;
  /** The one attack of `hostile` to run, instead of all at once. */
  only?: string;
  /** Of `ingest`, `outbound`, `commands`, `replay` and `cluster`: a folder of PostgreSQL programs with Citus, for a distributed database. */
  citusBin?: string;
}

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(
    `npm run faults -- ${Object.keys(faults).join("|")} [--rounds N] [--seed N] [--minutes N] [--only ATTACK] [--citus-bin FOLDER]`,
  );
  process.exit(0);
}
const option = (name: string, fallback: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const [name = "ingest"] = args.filter((one, index) => !one.startsWith("--") && !args[index - 1]?.startsWith("--"));
const run = faults[name];
if (!run) {
  console.error(`There is no fault run "${name}". Known: ${Object.keys(faults).join(", ")}.`);
  process.exit(2);
}
const seed = option("seed", Math.floor(Math.random() * 1e9));
console.log(`faults ${name}, seed ${seed}`);
const minutes = option("minutes", 10);
const text = (flag: string): string | undefined => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const [only, citusBin] = [text("--only"), text("--citus-bin")];
const rounds = option("rounds", defaultRounds[name] ?? 20);
process.exit(
  (await run({ rounds, seed, minutes, ...(only ? { only } : {}), ...(citusBin ? { citusBin } : {}) })) ? 0 : 1,
);
