import { newUuid } from "../../src/lib/ids.ts";
import type { TestAnswer, TestApi } from "./api.ts";
import type { TestOrganization } from "./world.ts";

export const usersPath = "/api/v1/auth/users/";
export const userPath = (id: string): string => `${usersPath}${id}/`;
export const freshEmail = (): string => `p-${newUuid()}@example.org`;

export const createUser = (api: TestApi, token: string, body: Record<string, unknown> = {}): Promise<TestAnswer> =>
  api.call("POST", usersPath, { token, body: { email: freshEmail(), ...body } });

/** Entries about one person, oldest first, with their changes. */
export async function auditOf(
  api: TestApi,
  organization: TestOrganization,
  userId: string,
): Promise<{ action: number; actor_type: string; object_repr: string; changes: Record<string, unknown> }[]> {
  return api.db.many`
    select action, actor_type, object_repr, changes from audit_log
    where organization_id = ${organization.id} and content_type = 3 and object_pk = ${userId} order by id`;
}

let lastImei = 100_000_000_000_000;

/** A device with an active assignment of the person, put straight into the tables. */
export async function assignDevice(api: TestApi, organization: TestOrganization, userId: string): Promise<string> {
  const [deviceId, assignmentId, now] = [newUuid(), newUuid(), api.clock.now()];
  lastImei += 1;
  await api.db.run`
    insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
      created_at, updated_at)
    values (${deviceId}, ${organization.id}, ${String(lastImei)}, '', 'iw-h10', 'iw', 'UTC', '{}', '{}', '', ${now}, ${now})`;
  await api.db.run`
    insert into assignments (id, organization_id, device_id, user_id, role, is_active, source, search, assigned_at)
    values (${assignmentId}, ${organization.id}, ${deviceId}, ${userId}, 20, true, 'assign', '', ${now})`;
  return assignmentId;
}
