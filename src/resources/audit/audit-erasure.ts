import type { Database, Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { containsPattern, searchText } from "../../lib/search-text.ts";
import { type AuditModel, auditModels } from "./audit-models.ts";
import { type Changes, summarize } from "./audit-store.ts";

/** What stands where something of a person was. */
export const erasedText = "erased";

export interface AuditSubject {
  /** Undefined: in all organizations. */
  organizationId: string | undefined;
  /** The e-mail address of the person, or the IMEIs of devices. */
  texts: readonly string[];
  /** Entries about these objects. */
  objectPks: readonly string[];
  /** The person, whose own changes stay in the log without a name. */
  actorId: string | undefined;
}

/** Entries by ranges of ids: the text of an entry has no index, and a long log is not read by one statement. */
const idsPerPage = 10_000;

const isAbout = ({ texts, objectPks, actorId }: AuditSubject): Sql => {
  const patterns = texts.map(containsPattern);
  return sql`(lower(a.object_repr || a.changes::text || a.additional_data::text) like any(${patterns}::text[])
    or a.object_pk = any(${objectPks}::uuid[]) or a.actor_user_id = ${actorId ?? null})`;
};

/** Pages of what is selected from the entries `a` that speak of the subject. */
export async function* readAuditOf<T extends Record<string, unknown>>(
  db: Db,
  subject: AuditSubject,
  select: Sql,
): AsyncGenerator<T[]> {
  const { first, last } = await db.one<{ first: number | null; last: number | null }>`
    select min(id) as first, max(id) as last from audit_log`;
  if (first === null || last === null) return;
  const within = subject.organizationId ? sql`a.organization_id = ${subject.organizationId}` : sql`true`;
  for (let low = first; low <= last; low += idsPerPage) {
    const page = await db.many<T>(sql`
      select ${select} from audit_log a
      where a.id >= ${low} and a.id < ${low + idsPerPage} and ${within} and ${isAbout(subject)} order by a.id`);
    if (page.length > 0) yield page;
  }
}

interface Entry {
  [column: string]: unknown;
  id: number;
  content_type: number;
  object_pk: string;
  object_repr: string;
  changes: Changes;
  additional_data: Record<string, unknown>;
  actor_user_id: string | null;
}

/**
 * Takes the subject out of the log. Entries about it lose what they say; where it is only mentioned, among others, its name is
 * replaced. That something happened, when, and to which id, stays. Returns the number of entries.
 */
export async function eraseFromAudit(
  db: Database,
  subject: AuditSubject,
  /** Kinds of objects of which an entry that mentions the subject is about it. */
  ownModels: readonly AuditModel[],
): Promise<number> {
  const columns = sql`a.id, a.content_type, a.object_pk, a.object_repr, a.changes, a.additional_data, a.actor_user_id`;
  const ownTypes: readonly number[] = ownModels.map((model) => auditModels[model]);
  let count = 0;
  for await (const page of readAuditOf<Entry>(db, subject, columns)) {
    const rewritten = page.map((entry) => erased(entry, subject, ownTypes));
    count += await storeEntries(db, rewritten, subject.actorId);
  }
  return count;
}

type Rewritten = Pick<Entry, "id" | "object_repr" | "changes" | "additional_data">;

function erased(entry: Entry, { texts, objectPks }: AuditSubject, ownTypes: readonly number[]): Rewritten {
  const replaced = (text: string): string => texts.reduce(replaceText, text);
  const inJson = <T>(value: T): T =>
    JSON.parse(texts.reduce((json, text) => replaceText(json, jsonText(text)), JSON.stringify(value))) as T;
  const [repr, changes, additional] = [
    replaced(entry.object_repr),
    inJson(entry.changes),
    inJson(entry.additional_data),
  ];
  const isMentioned =
    repr !== entry.object_repr ||
    JSON.stringify([changes, additional]) !== JSON.stringify([entry.changes, entry.additional_data]);
  const isOwn = objectPks.includes(entry.object_pk) || (isMentioned && ownTypes.includes(entry.content_type));
  if (!isOwn) return { id: entry.id, object_repr: repr, changes, additional_data: additional };
  const { via } = entry.additional_data;
  return {
    id: entry.id,
    object_repr: erasedText,
    changes: {},
    additional_data: via === undefined ? { erased: true } : { erased: true, via },
  };
}

const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1);

/** In any case of letters: an address is compared without it. */
const replaceText = (text: string, wanted: string): string =>
  text.replace(new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi"), erasedText);

const storeEntries = (db: Database, entries: readonly Rewritten[], actorId: string | undefined): Promise<number> =>
  db.transaction(async (tx) => {
    // The log refuses changes from all other transactions.
    await tx.run`select set_config('vigil.audit_erasure', 'on', true)`;
    return tx.run`
      update audit_log a set object_repr = n.object_repr, search = n.search, changes = n.changes::jsonb,
        changes_summary = n.summary, additional_data = n.additional_data::jsonb,
        remote_addr = case when a.actor_user_id = ${actorId ?? null} then null else a.remote_addr end,
        actor_user = case when a.actor_user_id = ${actorId ?? null} then null else a.actor_user end,
        actor_user_id = nullif(a.actor_user_id, ${actorId ?? null})
      from unnest(${entries.map(({ id }) => id)}::bigint[], ${entries.map((one) => one.object_repr)}::text[],
        ${entries.map((one) => searchText([one.object_repr]))}::text[],
        ${entries.map(({ changes }) => JSON.stringify(changes))}::text[],
        ${entries.map(({ changes }) => summarize(changes))}::text[],
        ${entries.map((one) => JSON.stringify(one.additional_data))}::text[]
      ) as n (id, object_repr, search, changes, summary, additional_data)
      where a.id = n.id`;
  });
