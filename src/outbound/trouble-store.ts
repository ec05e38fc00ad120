import type { Db, Tx } from "../db/database.ts";

/** Webhooks that fail. A row begins with the first failed attempt after a success, and ends with the next success. */
export interface AttemptOutcome {
  integrationId: string;
  organizationId: string;
  startedAtMs: number;
  error: string | null;
}

export interface Verdict {
  integrationId: string;
  organizationId: string;
  hasSucceeded: boolean;
  /** The first failure after the last success; undefined: it ended well. */
  failingSinceMs: number | undefined;
}

/** What attempts, in the order in which they ended, say of each webhook. */
export function verdictsOf(attempts: readonly AttemptOutcome[]): Verdict[] {
  const verdicts = new Map<string, Verdict>();
  for (const { integrationId, organizationId, startedAtMs, error } of attempts) {
    const before = verdicts.get(integrationId);
    verdicts.set(integrationId, {
      integrationId,
      organizationId,
      hasSucceeded: error === null || before?.hasSucceeded === true,
      failingSinceMs: error === null ? undefined : (before?.failingSinceMs ?? startedAtMs),
    });
  }
  return [...verdicts.values()];
}

/** Writes nothing for a webhook that goes on as before. Call it last: rows are locked after those of lanes and deliveries. */
export async function noteOutcomes(tx: Tx, attempts: readonly AttemptOutcome[]): Promise<void> {
  const verdicts = verdictsOf(attempts).sort((a, b) => (a.integrationId < b.integrationId ? -1 : 1));
  const recovered = verdicts.filter(({ hasSucceeded }) => hasSucceeded).map(({ integrationId }) => integrationId);
  if (recovered.length > 0) {
    // What nobody was mailed about is forgotten; of the others the mail is due that they work again.
    await tx.run`
      with forgotten as (
        delete from webhook_troubles where integration_id = any(${recovered}::uuid[]) and mailed_at is null
      )
      update webhook_troubles set failing_since = null
      where integration_id = any(${recovered}::uuid[]) and mailed_at is not null and failing_since is not null`;
  }
  const failing = verdicts.filter(({ failingSinceMs }) => failingSinceMs !== undefined);
  if (failing.length === 0) return;
  await tx.run`
    insert into webhook_troubles as t (integration_id, organization_id, failing_since)
    select * from unnest(${failing.map((one) => one.integrationId)}::uuid[],
      ${failing.map((one) => one.organizationId)}::uuid[],
      ${failing.map((one) => new Date(one.failingSinceMs ?? 0))}::timestamptz[])
    on conflict (integration_id) do update set failing_since = excluded.failing_since where t.failing_since is null`;
}

export interface Trouble {
  integrationId: string;
  failingSince: Date;
}

export const readTroubles = (db: Db, organizationId: string, integrationIds: readonly string[]): Promise<Trouble[]> =>
  db.many<Trouble & Record<string, unknown>>`
    select integration_id as "integrationId", failing_since as "failingSince" from webhook_troubles
    where organization_id = ${organizationId} and integration_id = any(${integrationIds}::uuid[])
      and failing_since is not null`;
