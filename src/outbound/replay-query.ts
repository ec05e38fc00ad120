import { commaListSchema, type ParsedQuery, type QueryParam, type QueryParams } from "../http/query-params.ts";
import { cursorExpired, invalidCursor, invalidFilter, invalidLimit, validationError } from "../lib/errors.ts";
import { uuidV7Floor } from "../lib/ids.ts";

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const defaultLimit = 100;
const maxLimit = 500;
const dayMs = 86_400_000;

const text = (description: string, schema: Record<string, unknown> = { type: "string" }): QueryParam<string> => ({
  description,
  schema,
  keepsEmpty: true,
  keepsNull: true,
  parse: (value) => value,
});

/** Taken as text: this endpoint has codes of its own, and an order of checks (decisions 26, 19.6). */
export const replayParams = {
  since: text(
    "Return the rows after this id, a UUIDv7. If omitted, the answer starts with the oldest row within the retention period.",
    {
      type: "string",
      format: "uuid",
    },
  ),
  limit: text("Number of rows to return, 1 to 500.", {
    type: "integer",
    minimum: 1,
    maximum: 500,
    default: defaultLimit,
  }),
  types: text(
    "Comma-separated event types among those the integration is subscribed to. Unknown types are ignored.",
    commaListSchema({ type: "string" }),
  ),
  ordering: text("Accepted and ignored: rows are always in ascending order of id."),
  search: text("Case-insensitive substring of the IMEI or the type."),
} satisfies QueryParams;

export interface ReplayQuery {
  since: string | undefined;
  limit: number;
  /** Undefined: all. */
  types: readonly string[] | undefined;
  /** Undefined: no search. */
  search: string | undefined;
}

/** `expired` says what to do with a cursor from before the retention: where it could go on. */
export async function readReplayQuery(
  query: ParsedQuery<typeof replayParams>,
  edgeMs: number,
  expired: () => Promise<never>,
): Promise<ReplayQuery> {
  const { since, limit = String(defaultLimit), types, search = "" } = query;
  if (since !== undefined) {
    if (!uuidV7.test(since)) throw invalidCursor("since must be a UUID of version 7.");
    if (timeOf(since) < edgeMs) await expired();
  }
  if (!/^[+-]?\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit) throw invalidLimit();
  const named = types?.split(",").flatMap((type) => type.trim() || []);
  if (named?.length === 0) throw invalidFilter();
  if (search.includes("\0")) throw validationError({ search: ["Null characters are not allowed."] });
  return { since: since?.toLowerCase(), limit: Number(limit), types: named, search: search.trim() || undefined };
}

/** The time inside a UUIDv7. */
export const timeOf = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

/** Rows before it are not shown, although their partition may still be there. */
export const windowEdge = (nowMs: number, retentionDays: number): number => nowMs - retentionDays * dayMs;

/** A cursor this far inside the window can still be used when it arrives. */
export const usableAfterMs = 60_000;

/** Just below the oldest row that can be reached: the lowest id of its millisecond, which no row has. */
export const expiredBefore = (retentionDays: number, oldestMs: number) =>
  cursorExpired(retentionDays, uuidV7Floor(oldestMs));
