import { ConfigError, type ConfigFlags, loadConfig } from "../config.ts";
import { makeClock } from "../lib/clock.ts";
import { makeLogger } from "../lib/logger.ts";
import { type Arguments, type Command, type CommandContext, CommandError, type Io, UsageError } from "./command.ts";
import { explainFailure } from "./failures.ts";
import { helpText, usageFor } from "./help.ts";
import { parseCommandLine, type Request, UsageErrorIn } from "./parse.ts";
import { programVersion } from "./program-version.ts";

const line = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** Does what the command line says and answers the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(argv: readonly string[], commands: readonly Command[], io: Io): Promise<number> {
  if (argv.length === 0) {
    io.stderr(line(helpText([], commands)));
    return 2;
  }
  let path: readonly string[] = [];
  try {
    const request = parseCommandLine(argv, commands);
    if (request.kind === "run") path = request.command.path;
    return await answer(request, commands, io);
  } catch (error) {
    if (error instanceof UsageError) {
      const where = error instanceof UsageErrorIn ? error.path : path;
      io.stderr(`vigil: ${error.message}\n${usageFor(where, commands)}\n`);
      return 2;
    }
    io.stderr(`vigil: ${error instanceof CommandError ? error.message : explainFailure(error)}\n`);
    return 1;
  }
}

async function answer(request: Request, commands: readonly Command[], io: Io): Promise<number> {
  if (request.kind === "help") {
    io.stdout(line(helpText(request.path, commands)));
    return 0;
  }
  if (request.kind === "version") {
    const version = await programVersion();
    io.stdout(request.json ? `${JSON.stringify({ version })}\n` : `vigil ${version}\n`);
    return 0;
  }
  const context = makeContext(request.command, request.args, io);
  try {
    return await request.command.run(context);
  } catch (error) {
    context.log.debug({ err: error }, "the command failed");
    throw error;
  }
}

function makeContext(command: Command, args: Arguments, io: Io): CommandContext {
  const flag = (name: string): string | undefined =>
    command.options.some((option) => option.name === name) ? args.value(name) : undefined;
  const config = configOrUsageError(
    {
      dataDir: args.value("data-dir"),
      port: flag("port"),
      gatewayPort: flag("gateway-port"),
      opsPort: flag("ops-port"),
      roles: flag("roles"),
      processes: flag("processes"),
    },
    io.env,
    command.isService ? "info" : "warn",
  );
  return {
    args,
    io,
    config,
    clock: makeClock(config.clockOffsetSeconds),
    log: makeLogger(config.logLevel, { buffered: command.isService === true }),
    print: (document, text) => io.stdout(line(args.has("json") ? JSON.stringify(document) : text)),
    note: (text) => io.stderr(line(text)),
  };
}

function configOrUsageError(
  flags: ConfigFlags,
  env: Io["env"],
  defaultLogLevel: "info" | "warn",
): ReturnType<typeof loadConfig> {
  try {
    return loadConfig(flags, env, defaultLogLevel);
  } catch (error) {
    if (error instanceof ConfigError && error.setting.startsWith("--")) throw new UsageError(error.message);
    throw error;
  }
}
