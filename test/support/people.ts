import { newUuid } from "../../src/lib/ids.ts";
import type { TestAnswer, TestApi } from "./api.ts";
import { assign } from "./devices.ts";
import { makeDevice } from "./fixtures.ts";
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

/** A device of its own for the person. */
export async function assignDevice(api: TestApi, organization: TestOrganization, userId: string): Promise<void> {
  const { uid } = await makeDevice(api, organization);
  await assign(api, organization.id, uid, userId);
}
