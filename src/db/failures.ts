const unavailableSystemCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);

/** Waited too long for a connection of a bounded pool: the database is slower than the demand. */
export class PoolExhausted extends Error {
  constructor() {
    super("no database connection became free in time");
    this.name = "PoolExhausted";
  }
}

const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** True when the statement may never have reached the database, or the database is going away: the caller may try again later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof PoolExhausted) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const code = codeOf(error);
  if (code !== undefined) {
    // 08 connection, 53 resources, 57P01-03 shutdown, crash, starting up
    return unavailableSystemCodes.has(code) || /^(08|53)/.test(code) || /^57P0[1-5]$/.test(code);
  }
  if (!(error instanceof Error)) return false;
  return /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Cannot use a pool|The client was closed|Client was closed)/i.test(
    error.message,
  );
}

/** The server does not answer: it is away, or its answer did not come in time. */
export const isLost = (error: unknown): boolean =>
  // The driver gives up waiting for an answer with this message.
  isUnavailable(error) || (error instanceof Error && error.message === "Query read timeout");

/** The statement took longer than one may, and was ended by the database. */
export const isTimedOut = (error: unknown): boolean => codeOf(error) === "57014";

/** The server does not know the prepared statement, for example because it was ended while it was being parsed. */
export const isUnprepared = (error: unknown): boolean => codeOf(error) === "26000";

/** The server has parsed the prepared statement before. */
export const isPreparedTwice = (error: unknown): boolean => codeOf(error) === "42P05";

/** Serialization failure or deadlock: the whole transaction may be run again. */
export const isRetryable = (error: unknown): boolean => ["40001", "40P01"].includes(codeOf(error) ?? "");

/** The name of the violated unique constraint, if that is what the error says. */
export function violatedConstraint(error: unknown): string | undefined {
  if (codeOf(error) !== "23505") return undefined;
  return typeof error === "object" && error !== null && "constraint" in error ? String(error.constraint) : undefined;
}
