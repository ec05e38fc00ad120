import { isRetryable, isUnavailable } from "../db/failures.ts";
import { StaleDevices } from "./batch.ts";
import { RulesMoved } from "./rules/rules-moved.ts";

/** `again`: at once. `outage`: after a pause, with a new connection. `stale`: without some devices. `data`: a packet is to blame. */
export type BatchFailure = "again" | "outage" | "stale" | "data";

const field = (error: unknown, name: string): string | undefined => {
  const value = typeof error === "object" && error !== null ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** 22 data exception, 23 constraint, 54 program limit: the values are to blame, and another attempt would meet the same. */
const blamesData = /^(22|23|54)/;

/**
 * Blames a packet only for what a packet can cause. Everything else (a missing partition or table, a right that was taken
 * away, a read-only server) concerns every packet, and must make devices wait instead of being answered.
 */
export function failureOf(error: unknown): BatchFailure {
  if (error instanceof StaleDevices) return "stale";
  if (error instanceof RulesMoved || isRetryable(error)) return "again";
  if (isUnavailable(error)) return "outage";
  const code = field(error, "code");
  if (code === undefined) return error instanceof RangeError || error instanceof TypeError ? "data" : "outage";
  const isMissingPartition = code === "23514" && field(error, "constraint") === undefined;
  return blamesData.test(code) && !isMissingPartition ? "data" : "outage";
}

/** Without values: messages of the database may quote them. */
export const reasonOf = (error: unknown): string =>
  field(error, "code") ?? (error instanceof Error ? error.name : "unknown");
