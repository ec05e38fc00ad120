import { CommanderError, type Command as Program } from "commander";
import { type Arguments, type Command, commonOptions, type Option, UsageError } from "./command.ts";
import { type Found, makeProgram, type Node, optionSyntax } from "./program.ts";
import { suggestion } from "./suggest.ts";

/** What the command line asks for. Unknown commands and help for a group of commands carry the words they are about. */
export type Request =
  | { kind: "version"; json: boolean }
  | { kind: "help"; path: readonly string[] }
  | { kind: "run"; command: Command; args: Arguments };

/** Which command a usage error is about, so that the right usage line can be shown. */
export class UsageErrorIn extends UsageError {
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): Request {
  if (argv[0] === "help") return parseCommandLine([...argv.slice(1), "--help"], commands);
  const { node, next, option, found, isVersion } = findNode(argv, commands);
  const { path, command } = node;
  if (!command && next !== undefined) throw new UsageErrorIn(path, unknownCommand(node, next));
  if (found.has("help")) return { kind: "help", path };
  if (path.length === 0 && isVersion) return { kind: "version", json: found.has("json") };
  if (!command) throw new UsageErrorIn(path, incomplete(node, option));
  return { kind: "run", command, args: parseArguments(command, argv, commands) };
}

/** The command or group of commands that the words lead to, and what stands there that leads no further. */
function findNode(argv: readonly string[], commands: readonly Command[]) {
  const { nodes, root, found } = makeProgram(commands);
  const { operands, unknown } = root.parseOptions([...argv]);
  let node = nodes[0] as Node;
  for (const [index] of operands.entries()) {
    const words = operands.slice(0, index + 1).join(" ");
    const deeper = nodes.find(({ path }) => path.join(" ") === words);
    if (!deeper) break;
    node = deeper;
  }
  const isVersion = root.getOptionValue("version") === true;
  return { node, next: operands[node.path.length], option: unknown[0], found, isVersion };
}

const wordsOf = ({ program }: Node): string[] => program.commands.map((one) => one.name());

const unknownCommand = (node: Node, word: string): string =>
  `unknown command "${[...node.path, word].join(" ")}"${suggestion(word, wordsOf(node))}`;

function incomplete(node: Node, option: string | undefined): string {
  const { path } = node;
  if (path.length === 0 && option !== undefined) return `unknown option ${option}${suggestion(option, ["--version"])}`;
  return `${path.length === 0 ? "a command is missing" : `"${path.join(" ")}" needs a subcommand`}: ${wordsOf(node).join(", ")}`;
}

function parseArguments(command: Command, argv: readonly string[], commands: readonly Command[]): Arguments {
  const { nodes, root, found } = makeProgram(commands);
  const known = new Map([...command.options, ...commonOptions].map((option) => [option.name, option]));
  const fail = (message: string): never => {
    throw new UsageErrorIn(command.path, message);
  };
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) fail(explain(error, command, known));
    throw error;
  }
  const { args: positionals } = programOf(command, nodes);
  for (const [name, values] of found) {
    const option = known.get(name) as Option;
    // The value of an option that was forgotten: the next option stands in its place.
    const isNextOption = (value: string) => value.startsWith("--") && !argv.includes(`--${name}=${value}`);
    if (values.some(isNextOption)) fail(`--${name} needs a value: ${optionSyntax(option)}`);
    if (values.length > 1 && !option.repeatable) fail(`--${name} is given twice`);
  }
  if (!command.rest && positionals.length > command.positionals.length) {
    fail(`unexpected argument "${positionals[command.positionals.length]}"`);
  }
  const required = command.options.find((option) => option.required && !found.has(option.name));
  if (required) fail(`--${required.name} is missing (${required.summary})`);
  return makeArguments(known, found, positionals);
}

const programOf = (command: Command, nodes: readonly Node[]): Program =>
  (nodes.find((node) => node.command === command) as Node).program;

/** What the library says, in our words. It quotes the option or the argument that it is about. */
function explain({ code, message }: CommanderError, command: Command, known: ReadonlyMap<string, Option>): string {
  const quoted = /'(.*?)'/s.exec(message)?.[1] ?? "";
  const flag = /^[^ =]*/.exec(quoted)?.[0] ?? "";
  const option = known.get(flag.replace(/^--/, ""));
  switch (code) {
    case "commander.unknownOption": {
      if (option) return `${flag} takes no value`;
      const flags = [...known.keys()].map((name) => `--${name}`);
      return `unknown option ${flag}${suggestion(flag, flags)}`;
    }
    case "commander.optionMissingArgument":
      return `${flag} needs a value: ${option ? optionSyntax(option) : flag}`;
    case "commander.missingArgument":
      return `${quoted} is missing (${command.positionals.find(({ name }) => name === quoted)?.summary})`;
    default:
      return message.replace(/^error: /, "");
  }
}

function makeArguments(known: ReadonlyMap<string, Option>, found: Found, positionals: readonly string[]): Arguments {
  const values = (name: string): readonly string[] => {
    if (!known.has(name)) throw new Error(`the command does not describe the option --${name}`);
    return found.get(name) ?? [];
  };
  return { positionals, values, value: (name) => values(name)[0], has: (name) => values(name).length > 0 };
}
