import type { Database, Db } from "../db/database.ts";
import {
  type Distribution,
  type DistributionStep,
  noteDistribution,
  readDistribution,
  resetSessionSettings,
  stepsToDistribute,
  stepsToUndo,
  withDistributionLock,
} from "../db/distribution.ts";
import { type Command, type CommandContext, CommandError, UsageError } from "./command.ts";
import { withCurrentDatabase } from "./command-database.ts";
import { reasonOf } from "./failures.ts";
import { positiveInteger } from "./option-values.ts";

const defaultShards = 16;
const maxShards = 1024;

interface Result {
  ok: boolean;
  citus: string | null;
  workers: number;
  distributed: string[];
  /** What was done by this call. */
  done: string[];
  /** What is left to do. */
  left: string[];
  reasons: string[];
  notes: string[];
}

const distribute: Command = {
  path: ["db", "distribute"],
  summary: "Spread the tables that grow over the workers of Citus",
  positionals: [],
  options: [
    { name: "check", summary: "only say whether anything is left to do" },
    { name: "dry-run", summary: "only say what would be done" },
    { name: "undo", summary: "bring everything back to the coordinator" },
    { name: "shards", value: "N", summary: "parts of each group of tables", default: String(defaultShards) },
  ],
  examples: ["vigil db distribute --check", "vigil db distribute --dry-run --shards 32", "vigil db distribute --undo"],
  next: ["vigil db status", "vigil doctor"],
  run: async (context) => {
    const { args, config } = context;
    const modes = ["check", "dry-run", "undo"].filter((name) => args.has(name));
    if (modes.length > 1 && !modes.includes("undo")) throw new UsageError("--check and --dry-run exclude each other");
    if (args.has("check") && args.has("undo")) throw new UsageError("--check and --undo exclude each other");
    const shards = positiveInteger(args, "shards", defaultShards) ?? defaultShards;
    if (shards > maxShards) throw new UsageError(`--shards must be at most ${maxShards}`);
    if (config.databaseUrl === undefined) {
      throw new CommandError(
        "the embedded database cannot be distributed, it has no Citus: set DATABASE_URL to the coordinator of a Citus cluster",
      );
    }
    const result = await withCurrentDatabase(context, (db) => perform(context, db, shards));
    context.print(result, describe(result, args.has("undo")));
    for (const reason of result.reasons) context.note(`vigil: ${reason}`);
    return result.ok ? 0 : 1;
  },
};

async function perform(context: CommandContext, db: Database, shards: number): Promise<Result> {
  const { args } = context;
  const isUndo = args.has("undo");
  const isLook = args.has("check") || args.has("dry-run");
  const before = await readDistribution(db);
  // Where nothing is distributed there is nothing to undo, with Citus or without.
  const reasons = isUndo ? [] : before.reasons;
  const stepsOf = (on: Db, now: Distribution): Promise<DistributionStep[]> =>
    isUndo ? Promise.resolve(stepsToUndo(now)) : stepsToDistribute(on, now, shards);
  if (isLook || reasons.length > 0) {
    const left = reasons.length > 0 ? [] : (await stepsOf(db, before)).map(({ text }) => text);
    return resultOf(before, { done: [], left, reasons });
  }
  if (isUndo && before.distributed.length === 0) return resultOf(before, { done: [], left: [], reasons: [] });
  const done: string[] = [];
  const left = await withDistributionLock(db, async (on) => {
    const steps = await stepsOf(on, await readDistribution(on));
    for (const [index, step] of steps.entries()) {
      context.note(`vigil: ${index + 1}/${steps.length} ${step.text}`);
      try {
        await step.run(on);
      } catch (error) {
        throw new CommandError(
          `could not ${step.text} (${reasonOf(error)}): what was done before stays, and the command may be run again`,
          { cause: error },
        );
      }
      done.push(step.text);
    }
    if (isUndo) await resetSessionSettings(on);
    const after = await readDistribution(on);
    await noteDistribution(on, after.distributed, context.clock);
    return (await stepsOf(on, after)).map(({ text }) => text);
  });
  if (left === undefined)
    throw new CommandError("another distribution is running on this database: wait until it has ended");
  return resultOf(await readDistribution(db), { done, left, reasons: [] });
}

const resultOf = (
  { citus, workers, distributed, notes }: Distribution,
  { done, left, reasons }: { done: string[]; left: string[]; reasons: string[] },
): Result => ({
  ok: left.length === 0 && reasons.length === 0,
  citus: citus ?? null,
  workers,
  distributed,
  done,
  left,
  reasons,
  notes,
});

function describe({ ok, distributed, workers, done, left, reasons, notes }: Result, isUndo: boolean): string {
  const lines = notes.map((note) => `Note: ${note}.`);
  if (reasons.length > 0) return [...lines, "Nothing was distributed."].join("\n");
  if (left.length > 0) return [...lines, "Left to do:", ...left.map((text) => `  ${text}`)].join("\n");
  const state =
    isUndo || distributed.length === 0
      ? "Nothing is distributed."
      : `Distributed over ${workers} node(s): ${distributed.join(", ")}.`;
  return [...lines, ...(ok && done.length === 0 ? ["Nothing is left to do."] : []), state].join("\n");
}

export const distributeCommands: readonly Command[] = [distribute];
