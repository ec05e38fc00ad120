import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Command, type CommandContext, CommandError, UsageError } from "./command.ts";
import { suggestion } from "./suggest.ts";

/** One folder above both src and dist. */
const checkout = join(import.meta.dirname, "../..");
const benches = join(checkout, "test/bench/bench.ts");
const runner = join(checkout, "node_modules/tsx/dist/cli.mjs");

export const benchNames = ["http", "lists", "ingest", "history", "webhooks", "rules", "replay"] as const;

/** The exit code of the benches and what they printed; without `isKept` it goes to stdout as it comes. */
async function runBenches(words: readonly string[], isKept: boolean): Promise<{ code: number; report: string }> {
  const child = spawn(process.execPath, [runner, benches, ...words], {
    cwd: checkout,
    stdio: ["ignore", isKept ? "pipe" : "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const report = child.stdout ? await text(child.stdout) : "";
  return { code: await ended, report };
}

const bench: Command = {
  path: ["bench"],
  summary: "Measure Vigil against the raw limit of the same work",
  positionals: [],
  rest: { name: "NAME", summary: `${benchNames.join(", ")}; without one all of them` },
  options: [{ name: "huge", summary: "ten million rows where there is a choice, which takes long" }],
  examples: ["vigil bench http", "vigil bench history replay --huge", "vigil bench rules --json"],
  next: ["Only the ratios are meaningful, and only on an idle machine."],
  run: async (context: CommandContext) => {
    const { args } = context;
    const unknown = args.positionals.find((name) => !benchNames.some((known) => known === name));
    if (unknown !== undefined) throw new UsageError(`there is no bench "${unknown}"${suggestion(unknown, benchNames)}`);
    if (!existsSync(benches) || !existsSync(runner)) {
      throw new CommandError('the benches are part of a checkout with its development tools: run "npm ci" there');
    }
    const words = [...args.positionals, ...(args.has("huge") ? ["--huge"] : [])];
    const { code, report } = await runBenches(words, args.has("json"));
    if (args.has("json")) context.print({ ok: code === 0, report: report.trim().split(/\n+/) }, "");
    return code === 0 ? 0 : 1;
  },
};

export const benchCommands: readonly Command[] = [bench];
