import { isUuid } from "../lib/ids.ts";
import { type Arguments, UsageError } from "./command.ts";
import { suggestion } from "./suggest.ts";

/** Values of options, checked once here. What does not fit is a usage error that names the option. */
const maxCount = 2_147_483_647;

/** A list separated by commas, without doubles. An empty text is an empty list. */
export const commaList = (text: string): string[] => [...new Set(text.split(",").flatMap((part) => part.trim() || []))];

export function knownWords<T extends string>(option: string, words: readonly string[], known: readonly T[]): T[] {
  return words.map((word) => {
    const match = known.find((candidate) => candidate === word);
    if (match === undefined) {
      throw new UsageError(
        `--${option}: unknown value "${word}"${suggestion(word, known) || `, known are ${known.join(", ")}`}`,
      );
    }
    return match;
  });
}

/** Undefined: not given. Empty: the default. */
export function positiveInteger(args: Arguments, option: string, whenEmpty: number): number | undefined {
  const text = args.value(option);
  if (text === undefined) return undefined;
  if (text === "") return whenEmpty;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > maxCount) {
    throw new UsageError(`--${option} must be a whole number from 1 to ${maxCount}, not "${text}"`);
  }
  return value;
}

export function nonEmptyText(args: Arguments, option: string, maxLength: number): string | undefined {
  const text = args.value(option)?.trim();
  if (text === "") throw new UsageError(`--${option} must not be empty`);
  if (text !== undefined && text.length > maxLength) {
    throw new UsageError(`--${option} must not be longer than ${maxLength} characters`);
  }
  return text;
}

export function uuidArgument(args: Arguments, name: string): string {
  const text = args.positionals[0] ?? "";
  if (!isUuid(text))
    throw new UsageError(`${name} must be a UUID, as printed by "vigil integration list", not "${text}"`);
  return text.toLowerCase();
}

/** Keeps only what was given, for partial updates: an undefined value means "not asked for". */
export function givenOnly<T extends object>(values: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
