import type { Db } from "../db/database.ts";
import { assignmentRoles } from "../resources/assignments/assignment-record.ts";
import type { FoundDevice } from "./device-erasure.ts";

export interface Membership {
  [column: string]: unknown;
  id: string;
  organizationId: string;
  slug: string;
  isOpen: boolean;
  phoneNumber: string;
}

/** Somebody with an e-mail address: a user, or a person who was only invited. */
export interface Person {
  email: string;
  userId: string | undefined;
  memberships: Membership[];
}

export async function findPerson(db: Db, email: string): Promise<Person> {
  const user = await db.maybeOne<{ id: string }>`select id from users where email = ${email}`;
  if (!user) return { email, userId: undefined, memberships: [] };
  const memberships = await db.many<Membership>`
    select m.id, m.organization_id as "organizationId", o.slug, m.is_open as "isOpen", m.phone_number as "phoneNumber"
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${user.id} order by o.slug`;
  return { email, userId: user.id, memberships };
}

/**
 * Devices that the person owns, and those that were deleted while the person owned them: the deletion closes the assignment at
 * the same time. An erasure deletes a device first, so one that was killed finds its devices again.
 */
export const listOwnedDevices = async (
  db: Db,
  { userId }: Person,
  organizationId?: string | undefined,
): Promise<FoundDevice[]> => {
  if (userId === undefined) return [];
  return db.many<FoundDevice & Record<string, unknown>>`
    select d.id, d.organization_id as "organizationId", d.uid, o.slug, d.deleted_at is null as "isLive"
    from assignments a
    join devices d on d.id = a.device_id and d.organization_id = a.organization_id
    join organizations o on o.id = d.organization_id
    where a.user_id = ${userId} and a.role = ${assignmentRoles.owner}
      and (a.is_active or a.unassigned_at = d.deleted_at)
      and (${organizationId ?? null}::uuid is null or d.organization_id = ${organizationId ?? null})
    group by d.id, o.slug order by o.slug, d.uid, d.id`;
};

/** Devices that the person owned once and others may own now: their history is not erased with the person. */
export async function countFormerDevices(db: Db, { userId }: Person): Promise<number> {
  if (userId === undefined) return 0;
  const { count } = await db.one<{ count: number }>`
    select count(distinct a.device_id) as count
    from assignments a join devices d on d.id = a.device_id and d.organization_id = a.organization_id
    where a.user_id = ${userId} and a.role = ${assignmentRoles.owner} and not a.is_active
      and a.unassigned_at is distinct from d.deleted_at
      and not exists (
        select from assignments own
        where own.device_id = a.device_id and own.user_id = a.user_id and own.role = a.role and own.is_active)`;
  return count;
}

export interface PersonCount {
  table: string;
  count: number;
}

/** What is held of the person, by table; devices and logs apart. */
export async function countPersonRows(db: Db, { userId, email }: Person): Promise<PersonCount[]> {
  const rows = await db.many<PersonCount & Record<string, unknown>>`
    select 'memberships' as table, count(*) as count from memberships where user_id = ${userId ?? null}
    union all select 'assignments', count(*) from assignments where user_id = ${userId ?? null}
    union all select 'browser_sessions', count(*) from browser_sessions where user_id = ${userId ?? null}
    union all select 'geofences', count(*) from geofences where user_id = ${userId ?? null}
    union all select 'alert_thresholds', count(*) from alert_thresholds where user_id = ${userId ?? null}
    union all select 'invitations', count(*) from invitations where email = ${email}
    union all select 'mails', count(*) from mails where recipient = ${email}`;
  return rows.filter(({ count }) => count > 0);
}

/** Settings of devices that hold a phone number of the person, such as SOS numbers: they stay, because somebody relies on them. */
export async function countPhoneSettings(db: Db, { memberships }: Person, except: readonly string[]): Promise<number> {
  let total = 0;
  for (const { organizationId, phoneNumber } of memberships) {
    if (phoneNumber === "") continue;
    const { count } = await db.one<{ count: number }>`
      select count(distinct device_id) as count from device_settings
      where organization_id = ${organizationId} and not device_id = any(${except}::uuid[])
        and strpos(coalesce(desired::text, '') || coalesce(reported::text, ''), ${phoneNumber}) > 0`;
    total += count;
  }
  return total;
}
