import type { Help, Command as Program } from "commander";
import type { Command } from "./command.ts";
import { columns } from "./output.ts";
import { makeProgram, type Node, usageOf } from "./program.ts";

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`];

const pathOf = (program: Program): string =>
  program.parent ? `${pathOf(program.parent)} ${program.name()}` : program.name();

const leavesOf = (program: Program): Program[] =>
  program.commands.flatMap((one) => (one.commands.length === 0 ? [one] : leavesOf(one)));

/** Lists of commands show whole commands, not groups; nothing is folded, so that lines can be searched and copied. */
const layout: Partial<Help> = {
  helpWidth: 1000,
  showGlobalOptions: true,
  visibleCommands: (program) => leavesOf(program),
  subcommandTerm: pathOf,
};

const firstSteps = columns([
  ["vigil start", "run everything, with an embedded database under ./data"],
  ['vigil org create --name "Care Co"', "an organization, while the service runs or is stopped"],
  ['vigil integration create --org care-co --name "Care app"', "API credentials, shown once"],
]);

function afterText({ path, command }: Node, commands: readonly Command[]): string[] {
  if (command) return [...section("Examples", command.examples), ...section("Next", command.next)];
  const hint = `Run "${["vigil", ...path].join(" ")} COMMAND --help" for the options of a command.`;
  if (path.length > 0) {
    const inside = commands.filter((one) => path.every((word, index) => one.path[index] === word));
    return [...section("Examples", inside.flatMap(({ examples }) => examples.slice(0, 1)).slice(0, 4)), hint];
  }
  return [...section("First steps", firstSteps), `Set DATABASE_URL to use your own PostgreSQL. ${hint}`];
}

/** Help for a command, for a group of commands (`vigil org`) or, with no words, for the program. */
export function helpText(path: readonly string[], commands: readonly Command[]): string {
  const { nodes } = makeProgram(commands);
  const node = nodes.find((one) => one.path.join(" ") === path.join(" ")) ?? (nodes[0] as Node);
  const { program, command } = node;
  if (!command) program.usage("COMMAND [options]");
  if (path.length === 0) {
    program.description("Vigil watches over people: trackers and health watches in, a partner API and webhooks out.");
  }
  return [program.configureHelp(layout).helpInformation().trimEnd(), ...afterText(node, commands)].join("\n\n");
}

export function usageFor(path: readonly string[], commands: readonly Command[]): string {
  const command = commands.find((one) => one.path.join(" ") === path.join(" "));
  const words = ["vigil", ...path].join(" ");
  return command
    ? `usage: ${words} ${usageOf(command)}`
    : `usage: ${words} COMMAND [options]; "${words} --help" lists the commands`;
}
