import { type Command, commonOptions, type Option, type Positional } from "./command.ts";
import { columns } from "./output.ts";

const shown = (option: Option): string =>
  option.value === undefined ? `--${option.name}` : `--${option.name} ${option.value}`;

function usageLine(command: Command): string {
  const options = command.options.map((option) => {
    const text = option.required ? shown(option) : `[${shown(option)}]`;
    return option.repeatable ? `${text}...` : text;
  });
  const names = command.positionals.map(({ name }) => name);
  if (command.rest) names.push(`[${command.rest.name}]...`);
  return ["vigil", ...command.path, ...names, ...options, "[--json]"].join(" ");
}

const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join("\n");
const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${indent(lines)}`];

function optionLines(options: readonly Option[]): string[] {
  return columns(
    options.map((option) => {
      const remarks = [
        option.required ? "required" : "",
        option.repeatable ? "may be repeated" : "",
        option.default === undefined ? "" : `default: ${option.default}`,
      ].filter((remark) => remark !== "");
      return [shown(option), option.summary + (remarks.length > 0 ? ` (${remarks.join("; ")})` : "")];
    }),
  );
}

const commandLines = (commands: readonly Command[]): string[] =>
  columns(commands.map((command) => [`vigil ${command.path.join(" ")}`, command.summary]));

const argumentsOf = ({ positionals, rest }: Command): Positional[] => [...positionals, ...(rest ? [rest] : [])];

function commandHelp(command: Command): string {
  return [
    `${command.summary}.`,
    `Usage: ${usageLine(command)}`,
    ...section("Arguments", columns(argumentsOf(command).map(({ name, summary }) => [name, summary]))),
    ...section("Options", optionLines([...command.options, ...commonOptions])),
    ...section("Examples", command.examples),
    ...section("Next", command.next),
  ].join("\n\n");
}

function groupHelp(path: readonly string[], commands: readonly Command[]): string {
  return [
    `Usage: vigil ${path.join(" ")} COMMAND [options]`,
    ...section("Commands", commandLines(commands)),
    ...section("Examples", commands.flatMap(({ examples }) => examples.slice(0, 1)).slice(0, 4)),
    `Run "vigil ${path.join(" ")} COMMAND --help" for the options of a command.`,
  ].join("\n\n");
}

function programHelp(commands: readonly Command[]): string {
  return [
    "Vigil watches over people: trackers and health watches in, a partner API and webhooks out.",
    "Usage: vigil COMMAND [options]",
    ...section("Commands", commandLines(commands)),
    ...section("Options of every command", optionLines(commonOptions)),
    ...section(
      "First steps",
      columns([
        ["vigil start", "run everything, with an embedded database under ./data"],
        ['vigil org create --name "Care Co"', "an organization, while the service runs or is stopped"],
        ['vigil integration create --org care-co --name "Care app"', "API credentials, shown once"],
      ]),
    ),
    'Set DATABASE_URL to use your own PostgreSQL. Run "vigil COMMAND --help" for options and examples.',
  ].join("\n\n");
}

/** Help for a command, for a group of commands (`vigil org`) or, with no words, for the program. */
export function helpText(path: readonly string[], commands: readonly Command[]): string {
  const inside = commands.filter((command) => path.every((word, index) => command.path[index] === word));
  const only = inside[0];
  if (path.length === 0) return programHelp(commands);
  return inside.length === 1 && only && only.path.length === path.length ? commandHelp(only) : groupHelp(path, inside);
}

export function usageFor(path: readonly string[], commands: readonly Command[]): string {
  const command = commands.find((one) => one.path.join(" ") === path.join(" "));
  const words = ["vigil", ...path].join(" ");
  return command
    ? `usage: ${usageLine(command)}`
    : `usage: ${words} COMMAND [options]; "${words} --help" lists the commands`;
}
