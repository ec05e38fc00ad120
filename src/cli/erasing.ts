import { join } from "node:path";
import type { Database } from "../db/database.ts";
import type { Erasure } from "../privacy/device-erasure.ts";
import { ErasureReport } from "../privacy/erasure-report.ts";
import type { CommandContext } from "./command.ts";
import { confirm } from "./confirm.ts";
import { operatorIn } from "./operator.ts";
import { record } from "./output.ts";

const everyMs = 2000;

/** Says how many rows are done, every two seconds. */
export function makeRowProgress(note: (text: string) => void, what: string): (total: number) => void {
  let nextAt = Date.now() + everyMs;
  return (total) => {
    if (Date.now() < nextAt) return;
    nextAt = Date.now() + everyMs;
    note(`vigil: ${what} ${total} rows so far`);
  };
}

export const makeErasure = ({ config, clock, note }: CommandContext, db: Database): Erasure => ({
  db,
  actorIn: operatorIn,
  now: clock.now(),
  mailFolder: join(config.dataDir, "mail"),
  report: new ErasureReport(makeRowProgress(note, "erased")),
});

/** The lines of what is held, such as "1,000,000 locations". */
export const describeCounts = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).map(([table, count]) => `  ${count.toLocaleString("en-US")} ${table}`);

/** Says what will be done, also with --yes, unless a program reads the answer; then asks. */
export async function confirmPlan(context: CommandContext, plan: readonly string[], word: string): Promise<void> {
  const text = plan.join("\n");
  if (!context.args.has("yes")) return confirm(context, text, word);
  if (!context.args.has("json")) context.note(text);
}

/** For people: the counts by table below the rest. */
export const describeDocument = ({
  rows,
  ...rest
}: { rows: Readonly<Record<string, number>> } & Readonly<Record<string, unknown>>): string =>
  record({ ...rest, ...rows });
