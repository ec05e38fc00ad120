import { type Arguments, type Command, commonOptions, type Option, UsageError } from "./command.ts";
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

const startsWith = (path: readonly string[], words: readonly string[]): boolean =>
  words.every((word, index) => path[index] === word);

export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): Request {
  if (argv[0] === "help") return parseCommandLine([...argv.slice(1), "--help"], commands);
  const { path, rest, stop } = takePath(argv, commands);
  const command = commands.find(
    (candidate) => candidate.path.length === path.length && startsWith(candidate.path, path),
  );
  const beforeSeparator = rest.slice(0, rest.indexOf("--") === -1 ? undefined : rest.indexOf("--"));
  const isUnknown = !command && stop !== undefined && !stop.startsWith("-");
  if (isUnknown) throw new UsageErrorIn(path, unknownCommand(path, stop, commands));
  if (beforeSeparator.some((word) => word === "--help" || word === "-h")) return { kind: "help", path };
  if (path.length === 0 && rest.includes("--version")) return { kind: "version", json: rest.includes("--json") };
  if (!command) throw new UsageErrorIn(path, incomplete(path, rest, commands));
  return { kind: "run", command, args: parseArguments(command, rest) };
}

/** Splits off the words that name a command, up to `stop`; common options may stand before and between them. */
function takePath(
  argv: readonly string[],
  commands: readonly Command[],
): { path: string[]; rest: string[]; stop: string | undefined } {
  const path: string[] = [];
  const rest: string[] = [];
  let index = 0;
  while (index < argv.length) {
    const word = argv[index] as string;
    const common = commonOptions.find(({ name }) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (common) {
      const length = common.value !== undefined && !word.includes("=") ? 2 : 1;
      rest.push(...argv.slice(index, index + length));
      index += length;
      continue;
    }
    if (!commands.some((command) => startsWith(command.path, [...path, word]))) break;
    path.push(word);
    index++;
  }
  return { path, rest: [...rest, ...argv.slice(index)], stop: argv[index] };
}

const wordsAfter = (path: readonly string[], commands: readonly Command[]): string[] => [
  ...new Set(commands.filter((one) => startsWith(one.path, path)).map((one) => one.path[path.length] as string)),
];

const unknownCommand = (path: readonly string[], word: string, commands: readonly Command[]): string =>
  `unknown command "${[...path, word].join(" ")}"${suggestion(word, wordsAfter(path, commands))}`;

function incomplete(path: readonly string[], rest: readonly string[], commands: readonly Command[]): string {
  const option = rest.find((word) => word.startsWith("-") && !commonOptions.some(({ name }) => word === `--${name}`));
  if (path.length === 0 && option !== undefined) return `unknown option ${option}${suggestion(option, ["--version"])}`;
  return `${path.length === 0 ? "a command is missing" : `"${path.join(" ")}" needs one more word`}: ${wordsAfter(path, commands).join(", ")}`;
}

function parseArguments(command: Command, words: readonly string[]): Arguments {
  const known = new Map([...command.options, ...commonOptions].map((option) => [option.name, option]));
  const found = new Map<string, string[]>();
  const positionals: string[] = [];
  const fail = (message: string): never => {
    throw new UsageErrorIn(command.path, message);
  };
  let onlyPositionals = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (onlyPositionals || !/^-./.test(word)) positionals.push(word);
    else if (word === "--") onlyPositionals = true;
    else {
      const [, name = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
      const option =
        known.get(name) ??
        fail(
          `unknown option ${word.split("=")[0]}${suggestion(
            `--${name}`,
            [...known.keys()].map((key) => `--${key}`),
          )}`,
        );
      if (option.value === undefined && inline !== undefined) fail(`--${name} takes no value`);
      let value = inline ?? "";
      if (option.value !== undefined && inline === undefined) {
        const next = words[index + 1];
        if (next === undefined || next.startsWith("--")) fail(`--${name} needs a value: --${name} ${option.value}`);
        value = next as string;
        index++;
      }
      if (found.has(name) && !option.repeatable) fail(`--${name} is given twice`);
      found.set(name, [...(found.get(name) ?? []), value]);
    }
  }
  checkComplete(command, found, positionals, fail);
  return makeArguments(known, found, positionals);
}

function checkComplete(
  command: Command,
  found: ReadonlyMap<string, readonly string[]>,
  positionals: readonly string[],
  fail: (message: string) => never,
): void {
  const missing = command.positionals[positionals.length];
  if (missing) fail(`${missing.name} is missing (${missing.summary})`);
  if (!command.rest && positionals.length > command.positionals.length) {
    fail(`unexpected argument "${positionals[command.positionals.length]}"`);
  }
  const required = command.options.find((option) => option.required && !found.has(option.name));
  if (required) fail(`--${required.name} is missing (${required.summary})`);
}

function makeArguments(
  known: ReadonlyMap<string, Option>,
  found: ReadonlyMap<string, readonly string[]>,
  positionals: readonly string[],
): Arguments {
  const values = (name: string): readonly string[] => {
    if (!known.has(name)) throw new Error(`the command does not describe the option --${name}`);
    return found.get(name) ?? [];
  };
  return { positionals, values, value: (name) => values(name)[0], has: (name) => values(name).length > 0 };
}
