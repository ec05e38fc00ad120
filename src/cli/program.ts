import { Argument, Command as Program, Option as ProgramOption } from "commander";
import { type Command, commonOptions, type Option } from "./command.ts";

/** A word of the command line with its node of the program; `command` is absent for a group of commands. */
export interface Node {
  path: readonly string[];
  program: Program;
  command: Command | undefined;
}

/** What was typed for each option, in order. A switch has the value "". */
export type Found = Map<string, string[]>;

export const optionSyntax = ({ name, value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

const remarksOf = (option: Option): string[] => [
  ...(option.required ? ["required"] : []),
  ...(option.repeatable ? ["may be repeated"] : []),
  ...(option.default === undefined ? [] : [`default: ${option.default}`]),
];

/** Options are recorded as they are met: one occurrence differs from two, and an empty value from an absent one. */
function addOption(program: Program, option: Option, found: Found): void {
  const remarks = remarksOf(option);
  const flags = option.value === undefined ? `--${option.name}` : `--${option.name} <${option.value}>`;
  const summary = option.summary + (remarks.length > 0 ? ` (${remarks.join("; ")})` : "");
  program.addOption(new ProgramOption(option.name === "help" ? `-h, ${flags}` : flags, summary));
  program.on(`option:${option.name}`, (value: string | null) => {
    found.set(option.name, [...(found.get(option.name) ?? []), value ?? ""]);
  });
}

function describeCommand(program: Program, command: Command, found: Found): void {
  program.description(`${command.summary}.`).usage(usageOf(command));
  for (const { name, summary } of command.positionals) program.addArgument(new Argument(`<${name}>`, summary));
  if (command.rest) program.addArgument(new Argument(`[${command.rest.name}...]`, command.rest.summary));
  for (const option of command.options) addOption(program, option, found);
  program.allowExcessArguments().action(() => undefined);
}

/** What follows the words of a command in its usage line. */
export function usageOf(command: Command): string {
  const options = command.options.map((option) => {
    const text = option.required ? optionSyntax(option) : `[${optionSyntax(option)}]`;
    return option.repeatable ? `${text}...` : text;
  });
  const names = command.positionals.map(({ name }) => name);
  if (command.rest) names.push(`[${command.rest.name}]...`);
  return [...names, ...options, "[--json]"].join(" ");
}

/**
 * The table of commands as a program of the parser library. The common options belong to the program, which takes them before,
 * between and after the words of a command. It prints nothing and never ends the process.
 */
export function makeProgram(commands: readonly Command[]): { nodes: readonly Node[]; root: Program; found: Found } {
  const found: Found = new Map();
  const silence = { writeOut: () => undefined, writeErr: () => undefined };
  const root = new Program("vigil").exitOverride().configureOutput(silence).helpOption(false).helpCommand(false);
  for (const option of commonOptions) addOption(root, option, found);
  root.addOption(new ProgramOption("--version", "show the version of the program"));
  const nodes: Node[] = [{ path: [], program: root, command: undefined }];
  for (const command of commands) {
    let parent = root;
    for (const [index, word] of command.path.entries()) {
      const path = command.path.slice(0, index + 1);
      const known = nodes.find((node) => node.path.join(" ") === path.join(" "));
      const program = known?.program ?? parent.command(word).helpOption(false).helpCommand(false);
      const isLast = path.length === command.path.length;
      if (!known) nodes.push({ path, program, command: isLast ? command : undefined });
      parent = program;
    }
    describeCommand(parent, command, found);
  }
  return { nodes, root, found };
}
