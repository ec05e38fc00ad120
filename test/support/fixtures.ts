import { randomInt } from "node:crypto";
import { newUuid } from "../../src/lib/ids.ts";
import { searchText } from "../../src/lib/search-text.ts";
import { ensureMember } from "../../src/resources/users/member-store.ts";
import { cliActor, type TestApi } from "./api.ts";
import type { TestOrganization } from "./world.ts";

/** An id that no row has. The same in every run, so that tests named by it keep their names. */
export const nobodysId = "3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22";

export interface TestDevice {
  id: string;
  uid: string;
  name: string;
}

export async function makeDevice(
  { db, clock }: TestApi,
  organization: TestOrganization,
  name = "Watch 12",
): Promise<TestDevice> {
  const id = newUuid();
  const uid = `35${String(randomInt(1e12)).padStart(13, "0")}`;
  await db.run`
    insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
      created_at, updated_at)
    values (${id}, ${organization.id}, ${uid}, ${name}, 'iw-h10', 'iw', 'UTC', '{}', '{}', ${searchText([uid, name])},
      ${clock.now()}, ${clock.now()})`;
  return { id, uid, name };
}

export const deleteDevice = ({ db, clock }: TestApi, device: TestDevice): Promise<number> =>
  db.run`update devices set deleted_at = ${clock.now()} where id = ${device.id}`;

export interface TestMember {
  id: string;
  email: string;
}

/** A member as a partner makes one: without a password. */
export async function makeMember(
  { db, clock }: TestApi,
  organization: TestOrganization,
  email = `member-${newUuid().slice(0, 8)}@example.org`,
): Promise<TestMember> {
  const profile = { email, firstName: "Ada", lastName: "Example", phoneNumber: "", role: "USER" } as const;
  const { user } = await db.transaction((tx) =>
    ensureMember(tx, organization.id, profile, cliActor(organization.id), clock.now()),
  );
  return { id: user.id, email };
}

export const closeMembership = ({ db, clock }: TestApi, organization: TestOrganization, userId: string) =>
  db.run`
    update memberships set closed_at = ${clock.now()}
    where organization_id = ${organization.id} and user_id = ${userId}`;

/** What is in a mail that waits to be sent; the newest one to the address. */
export async function readMail(
  { db }: TestApi,
  email: string,
): Promise<{ count: number; kind: string; link: URL; token: string; params: Record<string, string> }> {
  const mails = await db.many<{ kind: string; params: Record<string, string> }>`
    select kind, params from mails where recipient = ${email} order by created_at desc, id desc`;
  const newest = mails[0];
  if (!newest) throw new Error(`no mail to ${email}`);
  const link = new URL(newest.params.link ?? "");
  return { count: mails.length, ...newest, link, token: link.searchParams.get("token") ?? "" };
}

export const countMails = async ({ db }: TestApi, email: string): Promise<number> =>
  (await db.one<{ count: number }>`select count(*) as count from mails where recipient = ${email}`).count;

/** The audit entries about one object, oldest first. */
export const auditOf = ({ db }: TestApi, objectPk: string) =>
  db.many<{
    action: number;
    content_type: number;
    actor_type: string;
    object_repr: string;
    changes: Record<string, [unknown, unknown]>;
    additional_data: Record<string, unknown>;
  }>`
    select action, content_type, actor_type, object_repr, changes, additional_data from audit_log
    where object_pk = ${objectPk} order by id`;
