import type { Client } from "pg";

/**
 * Devices, members, invitations, assignments and audit entries in bulk, as the stores would have written them. A third of the
 * devices is online and was seen within five minutes, some were never seen. `offset` keeps two organizations apart.
 */
export async function fillOrganization(
  db: Pick<Client, "query">,
  organizationId: string,
  count: number,
  offset: number,
): Promise<void> {
  await db.query(
    `insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
       created_at, updated_at)
     select gen_random_uuid(), $1, '35' || lpad(($3::bigint + n)::text, 13, '0'), 'Watch ' || n,
       case when n % 10 = 0 then 'watch-generic' else 'iw-h10' end, case when n % 10 = 0 then 'watch' else 'iw' end, 'UTC',
       array['ward-' || n % 500], '{}', '35' || lpad(($3::bigint + n)::text, 13, '0') || E'\\nwatch ' || n || E'\\nward-' || n % 500,
       now() - n * interval '1 second', now()
     from generate_series(1, $2::int) n`,
    [organizationId, count, offset],
  );
  await db.query(
    `insert into device_state (device_id, organization_id, is_online, last_seen_at, battery_band, last_status)
     select id, organization_id, h % 3 = 0, case when h % 3 = 0 then now() - h % 300 * interval '1 second'
       when h % 50 > 0 then now() - h % 100000 * interval '1 minute' end, 3,
       '{"bat":{"value":81,"ts":"2026-03-01T08:15:29.900Z"},"hr":{"value":72,"ts":"2026-03-01T08:10:02.114Z"}}'
     from (select id, organization_id, abs(hashtext(uid)) as h from devices where organization_id = $1) as d`,
    [organizationId],
  );
  await db.query(
    `insert into invitations (id, organization_id, email, kind, status, role, first_name, last_name, token_hash,
       is_partner_link, mailed_at, search, created_at, updated_at, expires_at)
     select gen_random_uuid(), $1, 'guest-' || ($3::bigint + n) || '@example.org', 'member', 10 + 10 * (n % 4), 10, '', '',
       sha256(($3::bigint + n)::text::bytea), false, now(), 'guest-' || ($3::bigint + n) || '@example.org',
       now() - n * interval '1 second', now(), now() + n * interval '1 minute'
     from generate_series(1, $2::int) n`,
    [organizationId, count, offset],
  );
  await db.query(
    `with people as (
       insert into users (id, email, created_at, updated_at)
       select gen_random_uuid(), 'person-' || ($3::bigint + n) || '@example.org', now(), now() from generate_series(1, $2::int) n
       returning id, email)
     insert into memberships (id, organization_id, user_id, email, role, first_name, last_name, phone_number, search, joined_at,
       created_at, updated_at)
     select gen_random_uuid(), $1, id, email, 20, 'First ' || h % 700, 'Last ' || h % 900, '',
       email || E'\\nfirst ' || h % 700 || E'\\nlast ' || h % 900 || E'\\n', now(), now() - h % 100000 * interval '1 second', now()
     from (select id, email, abs(hashtext(email)) as h from people) as p`,
    [organizationId, count, offset],
  );
  // Statistics of a smaller organization would have every device compared with every member.
  await db.query("analyze devices, memberships");
  await db.query(
    `insert into assignments (id, organization_id, device_id, user_id, role, is_active, source, search, assigned_at)
     select gen_random_uuid(), $1, d.id, m.user_id, 10 + 10 * (d.n % 3), true, 'assign', m.email || E'\\n' || d.uid,
       now() - d.n * interval '1 second'
     from (select id, uid, row_number() over (order by uid) as n from devices where organization_id = $1) d
     join (select user_id, email, row_number() over (order by email) as n from memberships where organization_id = $1) m
       on m.n = d.n`,
    [organizationId],
  );
  await db.query(
    `insert into audit_log (organization_id, action, actor_type, actor_user_id, integration_id, content_type, object_pk,
       object_repr, search, timestamp, changes_summary, changes, additional_data)
     select $1, n % 3, (array['partners', 'users', 'system'])[1 + n % 3],
       case when n % 3 = 1 then md5((n % 99)::text)::uuid end, case when n % 3 = 0 then md5((n % 99)::text)::uuid end,
       1 + n % 9, gen_random_uuid(), 'Watch ' || n, 'watch ' || n, now() - n * interval '1 second', '', '{}', '{}'
     from generate_series(1, $2::int) n`,
    [organizationId, count],
  );
}
