import type { Db } from "../db/database.ts";

export const alarmMailChoices = ["off", "critical", "warning"] as const;
export type AlarmMail = (typeof alarmMailChoices)[number];

export interface Preferences {
  locale: string | null;
  timezone: string | null;
  alarm_mail: AlarmMail;
  /** Where the person is a member, by slug: what the session can be switched to. */
  organizations: { slug: string; name: string; role: number }[];
}

export async function findPreferences(db: Db, userId: string): Promise<Preferences> {
  const person = await db.one<Omit<Preferences, "organizations">>`
    select locale, timezone, alarm_mail from users where id = ${userId}`;
  const organizations = await db.many<Preferences["organizations"][number]>`
    select o.slug, o.name, m.role from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.closed_at is null order by o.slug`;
  return { ...person, organizations };
}

/** Undefined leaves a field as it is. */
export async function storePreferences(
  db: Db,
  userId: string,
  changes: { locale?: string | null; timezone?: string | null | undefined; alarm_mail?: AlarmMail },
  now: Date,
): Promise<void> {
  const current = await findPreferences(db, userId);
  const { locale = current.locale, timezone = current.timezone, alarm_mail = current.alarm_mail } = changes;
  await db.run`
    update users set locale = ${locale}, timezone = ${timezone}, alarm_mail = ${alarm_mail}, updated_at = ${now}
    where id = ${userId}`;
}
