import { Client } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { median, type Row } from "./report.ts";

const sizes = { small: 1_000, large: 100_000 };
const rounds = 15;

const lists: Record<string, (size: number) => string> = {
  "devices, page 1": () => "/devices/",
  "devices, filtered by tag": () => "/devices/?tags=ward-7",
  "devices, filtered by model": () => "/devices/?device_model_slug=watch-generic",
  "devices, search": (size) => `/devices/?search=watch+${size - 1}`,
  "devices, ordered by name": () => "/devices/?ordering=-name",
  "devices, online": () => "/devices/?is_online=true",
  "devices, ordered by presence": () => "/devices/?ordering=-is_online",
  "devices, ordered by last seen": () => "/devices/?ordering=-last_seen_at",
  "devices, ordered by last seen, oldest first": () => "/devices/?ordering=last_seen_at",
  "assignments, ordered by role": () => "/assignments/?ordering=role",
  "audit log, ordered by action": () => "/audit-log/?ordering=action",
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
  const env = { DATABASE_URL: embeddedUrl(server.connection) };
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
      await fillOrganization(db, id, count, slug === "small" ? 900_000 : 0);
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
