import { type Logger, pino } from "pino";

export type { Logger };

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Structured lines on stderr; stdout belongs to the ready line and to command output. Redaction is the second line of defence:
 * the first is that no call logs bodies, headers or URLs with a query.
 */
export function makeLogger(level: LogLevel, options: { buffered?: boolean } = {}): Logger {
  const secretKeys = [
    "authorization",
    "password",
    "token",
    "access_token",
    "client_secret",
    "webhook_secret",
    "secret",
    "text",
  ];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      redact: { paths: secretKeys, censor: "***" },
    },
    options.buffered ? bufferedDestination() : pino.destination({ fd: 2, sync: true }),
  );
}

/** Between the configured level and debug, so that an operator can look closer without a restart. The change itself is always logged. */
export function toggleDebug(log: Logger, configured: LogLevel): void {
  const level = log.level === configured ? "debug" : configured;
  log.level = "info";
  log.info({ log_level: level }, "the log level was changed");
  log.level = level;
}

/** A write for every line would cost a call more than its answer. A killed process loses a quarter of a second of lines. */
function bufferedDestination(): ReturnType<typeof pino.destination> {
  const destination = pino.destination({ fd: 2, sync: false, minLength: 8192, periodicFlush: 250 });
  process.once("exit", () => destination.flushSync());
  return destination;
}

/**
 * What a log may say of an error. The texts of database errors quote values (an e-mail address that exists twice), so of those
 * only codes and names are kept.
 */
function errorFields(error: unknown): Record<string, unknown> | string {
  if (!(error instanceof Error)) return String(error);
  const { code, constraint, table, column, routine, severity } = error as Error & Record<string, unknown>;
  const frames = error.stack?.slice(error.stack.indexOf("\n    at ")) ?? "";
  const isOfDatabase = typeof severity === "string" && typeof routine === "string";
  return {
    type: error.name,
    ...(isOfDatabase ? { constraint, table, column, routine } : { message: error.message }),
    ...(code === undefined ? {} : { code }),
    stack: frames.trim(),
    ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
  };
}
