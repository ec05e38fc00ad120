import { isImei, isUuid } from "../lib/ids.ts";

/** A query parameter: how it is described and how its text becomes a value. A bad value throws a QueryValueError. */
export interface QueryParam<T> {
  description: string;
  schema: Record<string, unknown>;
  /** An empty value is a value; elsewhere it counts as left out. */
  keepsEmpty?: boolean;
  /** A null character is for `parse` to judge; elsewhere it is refused. */
  keepsNull?: boolean;
  parse(text: string): T;
}

export type QueryParams = Readonly<Record<string, QueryParam<unknown>>>;
export type ParsedQuery<Q extends QueryParams> = { [K in keyof Q]?: Q[K] extends QueryParam<infer T> ? T : never };

/** Its message goes to the caller under the name of the parameter. */
export class QueryValueError extends Error {}

export const textParam = (description: string): QueryParam<string> => ({
  description,
  schema: { type: "string" },
  parse: (text) => text,
});

export const booleanParam = (description: string): QueryParam<boolean> => ({
  description,
  schema: { type: "boolean" },
  parse: (text) => {
    const value = text.toLowerCase();
    if (value === "true" || value === "1") return true;
    if (value === "false" || value === "0") return false;
    throw new QueryValueError("Must be a valid boolean.");
  },
});

export const uuidParam = (description: string): QueryParam<string> => ({
  description,
  schema: { type: "string", format: "uuid" },
  parse: (text) => {
    if (!isUuid(text)) throw new QueryValueError("Must be a valid UUID.");
    return text.toLowerCase();
  },
});

/** An IMEI filter: a malformed one matches nothing, so the value is kept as it is only when it could match. */
export const imeiParam = (description: string): QueryParam<string | null> => ({
  description,
  schema: { type: "string" },
  parse: (text) => (isImei(text) ? text : null),
});

export function integerParam(description: string, range: { low?: number; high?: number } = {}): QueryParam<number> {
  const { low = -2_147_483_648, high = 2_147_483_647 } = range;
  return {
    description,
    schema: { type: "integer" },
    parse: (text) => {
      if (!/^[+-]?\d{1,12}$/.test(text)) throw new QueryValueError("A valid integer is required.");
      const value = Number(text);
      if (value < low) throw new QueryValueError(`Ensure this value is greater than or equal to ${low}.`);
      if (value > high) throw new QueryValueError(`Ensure this value is less than or equal to ${high}.`);
      return value;
    },
  };
}

export function choiceParam<const T extends string>(description: string, choices: readonly T[]): QueryParam<T> {
  return {
    description,
    schema: { type: "string", enum: [...choices] },
    parse: (text) => oneOf(text, choices),
  };
}

/** Several values in one parameter, separated by commas. */
export const commaListSchema = (items: Record<string, unknown>): Record<string, unknown> => ({ type: "array", items });

/** A comma separated list of which any may match. */
export function choicesParam<const T extends string>(description: string, choices: readonly T[]): QueryParam<T[]> {
  return {
    description: `${description} One value or a comma-separated list of: ${choices.join(", ")}.`,
    schema: commaListSchema({ type: "string", enum: [...choices] }),
    parse: (text) => commaList(text).map((part) => oneOf(part, choices)),
  };
}

export const textsParam = (description: string): QueryParam<string[]> => ({
  description: `${description} One value or a comma-separated list.`,
  schema: commaListSchema({ type: "string" }),
  parse: commaList,
});

function oneOf<T extends string>(text: string, choices: readonly T[]): T {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new QueryValueError(`"${text}" is not a valid choice.`);
  return choice;
}

const commaList = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+\- ]\d\d(?::?\d\d)?)?)?$/;

/**
 * ISO 8601 with Z or an offset; without a zone it is UTC, a bare date is midnight UTC. A `+` that was not encoded arrives as a
 * blank and is read as `+`.
 */
export function parseDateTime(text: string): Date | undefined {
  const match = dateTime.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = match;
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const check = new Date(local);
  const exists =
    check.getUTCMonth() === Number(month) - 1 &&
    check.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60;
  const offset = offsetMinutes(zone);
  if (!exists || offset === undefined) return undefined;
  // Times are kept in milliseconds: rounded up, a finer bound selects the same rows, whether it is inclusive or not.
  const ms = Math.ceil(Number(`${fraction.padEnd(3, "0").slice(0, 3)}.${fraction.slice(3)}`));
  return new Date(local + ms - offset * 60_000);
}

function offsetMinutes(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  if (Number(digits.slice(2)) > 59 || minutes > 18 * 60) return undefined;
  return zone.startsWith("-") ? -minutes : minutes;
}

export const dateTimeParam = (description: string): QueryParam<Date> => ({
  description,
  schema: { type: "string", format: "date-time" },
  parse: (text) => {
    const value = parseDateTime(text);
    if (!value) throw new QueryValueError("Enter a valid ISO 8601 date and time.");
    return value;
  },
});
