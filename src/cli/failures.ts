import { ConfigError } from "../config.ts";
import { isUnavailable } from "../db/failures.ts";
import { MigrationError } from "../db/migrate.ts";
import { EmbeddedServerError } from "../embedded/embedded-server.ts";
import { ChildStartError } from "../roles/child-messages.ts";

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, "; ");

const fieldOf = (error: unknown, name: string): unknown =>
  typeof error === "object" && error !== null ? (error as Record<string, unknown>)[name] : undefined;

/** Their messages say what to do. */
const spoken = [EmbeddedServerError, MigrationError, ConfigError, ChildStartError];

/** One line for a failure that no command has foreseen in particular. It says what happened and what to do next. */
export function explainFailure(error: unknown): string {
  if (spoken.some((kind) => error instanceof kind)) return oneLine((error as Error).message);
  if (fieldOf(error, "code") === "EADDRINUSE") {
    return `port ${fieldOf(error, "port")} is in use: stop the program that uses it or choose another (see "vigil start --help")`;
  }
  if (fieldOf(error, "code") === "EACCES" && fieldOf(error, "syscall") === "listen") {
    return `port ${fieldOf(error, "port")} may not be opened by this user: choose one above 1023`;
  }
  if (isUnavailable(error)) {
    return `the database connection was lost (${reasonOf(error)}): run "vigil doctor" and try again`;
  }
  return `${reasonOf(error)}: run "vigil doctor"; VIGIL_LOG_LEVEL=debug shows more`;
}

/** The message of an error. A refused connection to a name with several addresses has its messages inside. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join("; ");
  return oneLine(error instanceof Error ? error.message : String(error));
}
