import type { Db, Tx } from "../../db/database.ts";
import { notify } from "../../db/listener.ts";

/** Hears the id of an organization in which other rules may apply to some device than before. */
export const rulesChannel = "vigil_rules";

/**
 * What changed: a fence (its links included), a threshold, or a device (who holds it as owner or assigned, or whether it is live
 * at all). `all` says that anything may have.
 */
export interface RuleChange {
  kind: "geofence" | "threshold" | "device" | "all";
  id: string;
}

/** With how it was before, written and read back by the noun that changed; null where there was nothing. */
export interface LoggedChange extends RuleChange {
  before?: object | null;
}

/** Changes that are kept per organization; a process that is further behind reads all rules again. */
export const keptChanges = 10_000;

/**
 * Must be called in every transaction that can alter which rules apply to a device. The row of the version is one for the whole
 * organization and locked until the commit: called last, it makes nobody wait for longer than a commit and cannot deadlock. For
 * the same reason versions become visible in their order: whoever has seen a version has seen all changes up to it.
 */
export async function touchRules(tx: Tx, organizationId: string, ...changes: readonly LoggedChange[]): Promise<void> {
  const { version } = await tx.one<{ version: number }>`
    insert into rule_versions as v (organization_id, version) values (${organizationId}, 1)
    on conflict (organization_id) do update set version = v.version + 1
    returning version`;
  const logged: readonly LoggedChange[] = changes.length > 0 ? changes : [{ kind: "all", id: organizationId }];
  await tx.run`
    insert into rule_changes (organization_id, version, kind, object_id, before)
    select ${organizationId}, ${version}, kind, object_id, before::jsonb
    from unnest(${logged.map(({ kind }) => kind)}::text[], ${logged.map(({ id }) => id)}::uuid[],
      ${logged.map(({ before }) => (before ? JSON.stringify(before) : null))}::text[]) as c (kind, object_id, before)
    on conflict do nothing`;
  await tx.run`
    update geofences set shape_version = ${version}, versioned_shape = shape_revision
    where organization_id = ${organizationId} and versioned_shape is distinct from shape_revision
      and id = any(${logged.filter(({ kind }) => kind === "geofence").map(({ id }) => id)}::uuid[])`;
  await tx.run`
    delete from rule_changes where organization_id = ${organizationId} and version <= ${version - keptChanges}`;
  await notify(tx, rulesChannel, organizationId);
}

/** 0 before the first rule. Read before the rules themselves: they are then at least as new as it says. */
export async function findRuleVersion(db: Db, organizationId: string): Promise<number> {
  const row = await db.maybeOne<{ version: number }>`
    select version from rule_versions where organization_id = ${organizationId}`;
  return row?.version ?? 0;
}

export interface RuleChanges {
  version: number;
  /** Each object once. */
  changes: RuleChange[];
}

/**
 * What changed after a version, exactly. Undefined: the log does not reach back that far. The objects are to be read after
 * this; they may be newer than `version`, and are then named again by a later call.
 */
export async function findRuleChanges(
  db: Db,
  organizationId: string,
  sinceVersion: number,
): Promise<RuleChanges | undefined> {
  const rows = await db.many<{ version: number; kind: RuleChange["kind"] | null; id: string | null }>`
    select v.version, c.kind, c.object_id as id
    from rule_versions v
    left join lateral (
      select distinct kind, object_id from rule_changes
      where organization_id = v.organization_id and version > ${sinceVersion}) c on true
    where v.organization_id = ${organizationId}`;
  const version = rows[0]?.version ?? 0;
  if (version - sinceVersion > keptChanges) return undefined;
  return { version, changes: rows.flatMap(({ kind, id }) => (kind === null || id === null ? [] : [{ kind, id }])) };
}
