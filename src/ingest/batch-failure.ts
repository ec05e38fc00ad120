import { isRetryable, isUnavailable } from "../db/failures.ts";
import { StaleDevices } from "./batch.ts";
import { KnownReports } from "./frame-keys.ts";
import { UnexpectedState } from "./optimistic-commits.ts";
import { RulesMoved } from "./rules/rules-moved.ts";
import { UnstorablePacket } from "./unstorable-packet.ts";

/**
 * `again`: at once. `outage`: after a pause, with a new connection. `stale`: without some devices. `data`: a packet is to blame.
 * `fault`: the program failed; a packet is to blame only when it fails alone while others are stored.
 */
export type BatchFailure = "again" | "outage" | "stale" | "data" | "fault";

const field = (error: unknown, name: string): string | undefined => {
  const value = typeof error === "object" && error !== null ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** 22 data exception, 23 constraint, 54 program limit: the values are to blame, and another attempt would meet the same. */
const blamesData = /^(22|23|54)/;

/** The next attempt knows more, and goes another way. */
const hasAnotherWay = [RulesMoved, KnownReports, UnexpectedState] as const;

const programFaults = [TypeError, RangeError, ReferenceError, SyntaxError, URIError] as const;

/**
 * Blames a packet only for what a packet can cause. Everything else (a missing partition or table, a right that was taken
 * away, a read-only server) concerns every packet, and must make devices wait instead of being answered.
 */
export function failureOf(error: unknown): BatchFailure {
  if (error instanceof StaleDevices) return "stale";
  if (hasAnotherWay.some((kind) => error instanceof kind) || isRetryable(error)) return "again";
  if (isUnavailable(error)) return "outage";
  if (error instanceof UnstorablePacket) return "data";
  // Before the code: those that Node throws have one too.
  if (programFaults.some((kind) => error instanceof kind)) return "fault";
  const code = field(error, "code");
  if (code === undefined) return "outage";
  const isMissingPartition = code === "23514" && field(error, "constraint") === undefined;
  return blamesData.test(code) && !isMissingPartition ? "data" : "outage";
}

/** Without values: messages of the database may quote them. */
export const reasonOf = (error: unknown): string =>
  field(error, "code") ?? (error instanceof Error ? error.name : "unknown");

/** Where the program failed, without the message: it may quote a value. */
export const placeOf = (error: unknown): string | undefined =>
  error instanceof Error
    ? error.stack
        ?.split("\n")
        .filter((line) => /^\s+at /.test(line))
        .slice(0, 5)
        .join("\n")
    : undefined;
