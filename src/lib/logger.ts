import { type Logger, pino } from "pino";

export type { Logger };

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Structured lines on stderr; stdout belongs to the ready line and to command output. Redaction is the second line of defence:
 * the first is that no call logs bodies, headers or URLs with a query.
 */
export function makeLogger(level: LogLevel): Logger {
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
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: "***" },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
