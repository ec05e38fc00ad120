import type { Config } from "../config.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";

export interface Option {
  name: string;
  /** The name of the value in help texts. Absent: a switch without a value. */
  value?: string;
  repeatable?: true;
  required?: true;
  summary: string;
  default?: string;
}

export interface Positional {
  name: string;
  summary: string;
}

/** One command of the table; parser, help and tests read the same description. */
export interface Command {
  path: readonly string[];
  summary: string;
  positionals: readonly Positional[];
  /** Any number of further words, where the command takes them. */
  rest?: Positional;
  options: readonly Option[];
  examples: readonly string[];
  /** What one usually does afterwards. */
  next: readonly string[];
  /** Logs are for a service; the other commands only warn. */
  isService?: true;
  /** The exit code. */
  run(context: CommandContext): Promise<number>;
}

/** Every command has these. */
export const commonOptions: readonly Option[] = [
  { name: "data-dir", value: "DIR", summary: "folder of the embedded database and of mails", default: "./data" },
  { name: "json", summary: "print one JSON document on stdout and nothing else" },
  { name: "help", summary: "show this help" },
];

/** What was typed, checked against the description of the command. Asking for an undescribed option is a bug and throws. */
export interface Arguments {
  /** All positionals of the command, in its order, and then the further words. */
  positionals: readonly string[];
  /** Undefined: not given. An empty text was given to clear a setting. */
  value(name: string): string | undefined;
  values(name: string): readonly string[];
  has(name: string): boolean;
}

export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  readStdin(): Promise<string>;
  /** One line that a person types; absent where nobody can. */
  readLine?(): Promise<string>;
  /** Where settings are read from, if not from the environment of the process. */
  env?: Readonly<Record<string, string | undefined>>;
}

export interface CommandContext {
  args: Arguments;
  io: Io;
  config: Config;
  clock: Clock;
  log: Logger;
  /** The result: the document with --json, the text for people without. */
  print(document: unknown, text: string): void;
  /** A remark for people, on stderr. */
  note(text: string): void;
}

/** The command line itself is wrong: exit code 2, with the usage line. */
export class UsageError extends Error {}

/** The command cannot be done: exit code 1. The message is one line and says what to do next. */
export class CommandError extends Error {}
