import { Client } from "pg";
import { openEmbeddedServer } from "../../src/db/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { median, type Row } from "./report.ts";

const sizes = { small: 1_000, large: 100_000 };
const rounds = 15;

/** Devices and members made in bulk, as the stores would have written them. */
async function fill(db: Client, organizationId: string, count: number, offset: number): Promise<void> {
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
    `insert into device_state (device_id, organization_id, is_online, last_seen_at, last_status)
     select id, organization_id, hashtext(uid) % 3 = 0, now() - abs(hashtext(uid) % 100000) * interval '1 second',
       '{"bat":{"value":81,"ts":"2026-03-01T08:15:29.900Z"},"hr":{"value":72,"ts":"2026-03-01T08:10:02.114Z"}}'
     from devices where organization_id = $1`,
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
     select gen_random_uuid(), $1, id, email, 20, 'First', 'Last', '', email || E'\\nfirst\\nlast\\n', now(), now(), now() from people`,
    [organizationId, count, offset],
  );
}

const lists: Record<string, (size: number) => string> = {
  "devices, page 1": () => "/devices/",
  "devices, filtered by tag": () => "/devices/?tags=ward-7",
  "devices, filtered by model": () => "/devices/?device_model_slug=watch-generic",
  "devices, search": (size) => `/devices/?search=watch+${size - 1}`,
  "devices, ordered by name": () => "/devices/?ordering=-name",
  "devices, online": () => "/devices/?is_online=true",
  "devices, ordered by presence": () => "/devices/?ordering=-is_online",
  "devices, ordered by last seen": () => "/devices/?ordering=-last_seen_at",
  "invitations, page 1": () => "/organizations/invitations/",
  "invitations, pending": () => "/organizations/invitations/?status=10",
  "invitations, ordered by status": () => "/organizations/invitations/?ordering=status",
  "invitations, ordered by e-mail": () => "/organizations/invitations/?ordering=email",
  "invitations, ordered by expiry": () => "/organizations/invitations/?ordering=-expires_at",
  "users, page 1": () => "/auth/users/",
  "users, search": (size) => `/auth/users/?search=person-${size === sizes.small ? 900_500 : 99_500}%40`,
};

/** The time of a list at 100,000 rows to that at 1,000: lists must not grow with the organization. */
export async function benchLists(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const { host, port, user, database } = server.connection;
  const env = { DATABASE_URL: `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}` };
  const service = await startVigil([], env);
  const db = new Client({ connectionString: env.DATABASE_URL });
  await db.connect();
  try {
    const tokens: Record<string, string> = {};
    for (const [slug, count] of Object.entries(sizes)) {
      const { id } = await vigilJson<{ id: string }>(
        [
          "org",
          "create",
          "--name",
          slug,
          "--slug",
          slug,
          "--feature",
          "managed_onboarding",
          "--per-minute",
          "1000000000",
          "--per-hour",
          "1000000000",
        ],
        env,
      );
      await fill(db, id, count, slug === "small" ? 900_000 : 0);
      tokens[slug] = await fetchTokenOf(
        service.http,
        await vigilJson<Credentials>(["integration", "create", "--org", slug, "--name", slug], env),
      );
    }
    await db.query("vacuum analyze");
    const time = async (slug: "small" | "large", path: string): Promise<number> => {
      const started = performance.now();
      const answer = await fetch(`${service.http}/api/v1${path}`, {
        headers: { authorization: `Bearer ${tokens[slug]}` },
      });
      const { count } = (await answer.json()) as { count: number };
      if (answer.status !== 200 || count === 0)
        throw new Error(`${path} of ${slug} gave ${answer.status} with ${count} rows`);
      return performance.now() - started;
    };
    const rows: Row[] = [];
    for (const [what, path] of Object.entries(lists)) {
      const times = { small: [] as number[], large: [] as number[] };
      for (let round = 0; round < rounds + 3; round++) {
        for (const slug of ["small", "large"] as const) {
          const ms = await time(slug, path(sizes[slug]));
          if (round >= 3) times[slug].push(ms);
        }
      }
      rows.push({
        what,
        ours: median(times.large) * 1000,
        bare: median(times.small) * 1000,
        unit: "us",
        ratios: [median(times.large) / median(times.small)],
      });
    }
    return rows;
  } finally {
    await db.end();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}
