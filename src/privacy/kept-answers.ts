import type { Db } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { containsPattern } from "../lib/search-text.ts";

/** Of answers that are read by one statement. They are kept for a day. */
const sliceMs = 600_000;

/** Answers kept for an Idempotency-Key that mention one of the texts, or that were given to one of the principals. */
export async function eraseKeptAnswers(
  db: Db,
  /** Undefined: of all organizations. */
  organizationId: string | undefined,
  { texts, principalIds = [] }: { texts: readonly string[]; principalIds?: readonly string[] },
): Promise<number> {
  const { first, last } = await db.one<{ first: Date | null; last: Date | null }>`
    select min(created_at) as first, max(created_at) as last from idempotency_keys`;
  if (first === null || last === null) return 0;
  const patterns = texts.map(containsPattern);
  const within = organizationId
    ? sql`principal_id in (
        select id from integrations where organization_id = ${organizationId}
        union all select id from memberships where organization_id = ${organizationId})`
    : sql`true`;
  let total = 0;
  // A Date has no microseconds: the last slice ends after the last row.
  for (let start = first.getTime(); start <= last.getTime(); start += sliceMs) {
    total += await db.run(sql`
      delete from idempotency_keys
      where created_at >= ${new Date(start)} and created_at < ${new Date(start + sliceMs)} and ${within}
        and (principal_id = any(${principalIds}::uuid[])
          or lower(path || body || coalesce(location, '')) like any(${patterns}::text[]))`);
  }
  return total;
}
