import type { TestAnswer, TestApi } from "./api.ts";

/** IMEIs that no other test of the file uses. */
export function imeis(start = 490_154_203_000_000): () => string {
  let next = start;
  return () => String(next++);
}

export const register = (api: TestApi, token: string, uid: string, fields: object = {}): Promise<TestAnswer> =>
  api.call("POST", "/api/v1/devices/", { token, body: { uid, device_model_slug: "iw-h10", ...fields } });

/** What packets would have written. */
export async function setState(
  { db }: TestApi,
  organizationId: string,
  uid: string,
  state: {
    isOnline?: boolean;
    lastSeenAt?: string;
    statusChangedAt?: string;
    firmwareVersion?: string;
    lastStatus?: object;
    lastLocation?: object;
  },
): Promise<void> {
  await db.run`
    insert into device_state (device_id, organization_id, is_online, last_seen_at, status_changed_at, firmware_version,
      last_status, last_location)
    select id, organization_id, ${state.isOnline ?? false}, ${state.lastSeenAt}, ${state.statusChangedAt},
      ${state.firmwareVersion}, ${JSON.stringify(state.lastStatus ?? {})},
      ${state.lastLocation ? JSON.stringify(state.lastLocation) : null}
    from devices where organization_id = ${organizationId} and uid = ${uid} and deleted_at is null
    on conflict (device_id) do update set is_online = excluded.is_online, last_seen_at = excluded.last_seen_at,
      status_changed_at = excluded.status_changed_at, firmware_version = excluded.firmware_version,
      last_status = excluded.last_status, last_location = excluded.last_location`;
}

export async function assign(
  { db, clock }: TestApi,
  organizationId: string,
  uid: string,
  userId: string,
  role: 10 | 20 | 30 = 20,
): Promise<void> {
  await db.run`
    insert into assignments (id, organization_id, device_id, user_id, role, is_active, source, search, assigned_at)
    select gen_random_uuid(), organization_id, id, ${userId}, ${role}, true, 'assign', '', ${clock.now()}
    from devices where organization_id = ${organizationId} and uid = ${uid} and deleted_at is null`;
}

/** The newest audit entry of an object, as the API shows it, or undefined. */
export async function lastAudit(
  api: TestApi,
  token: string,
  repr: string,
  model = "device",
): Promise<TestAnswer["body"]> {
  const list = await api.call("GET", `/api/v1/audit-log/?model_name=${model}&search=${repr}&ordering=-id`, { token });
  const id = list.body.results[0]?.id;
  if (id === undefined) return undefined;
  const { body } = await api.call("GET", `/api/v1/audit-log/${id}/`, { token });
  return { ...body, total: list.body.count };
}
