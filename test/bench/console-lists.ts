import { Client } from "pg";
import { openEmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { embeddedUrl } from "../support/embedded-client.ts";
import { fillLog } from "../support/large-log.ts";
import { fillOrganization } from "../support/large-organization.ts";
import { runVigil, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { median, type Row } from "./report.ts";

const isQuick = process.argv.includes("--quick");
const deviceCounts = { small: 1_000, large: isQuick ? 20_000 : 100_000 };
const deliveryCounts = { small: 1_000, large: isQuick ? 100_000 : 1_000_000 };
const rounds = isQuick ? 7 : 15;
const password = "correct horse battery";
const operatorEmail = "ops@example.org";
type Size = keyof typeof deviceCounts;

interface World {
  id: string;
  cookie: string;
  integrationId: string;
}

/** What the pages ask for when they are opened, and what their filters ask for. */
const lists: Record<string, (world: World, size: number) => string> = {
  "devices, page 1": () => "/console/api/devices/?page_size=50",
  "devices, in alarm": () => "/console/api/devices/?page_size=50&state=alarm",
  "devices, offline": () => "/console/api/devices/?page_size=50&state=offline",
  "devices, low battery": () => "/console/api/devices/?page_size=50&battery=low",
  "devices, never seen": () => "/console/api/devices/?page_size=50&seen=never",
  "devices, search": (_, size) => `/console/api/devices/?page_size=50&search=watch+${size - 1}`,
  "devices, search by holder": () => "/console/api/devices/?page_size=50&search=first+7+last",
  "fleet, page 1": () => "/console/api/fleet/?after=",
  "fleet, one device": () => "/console/api/fleet/?uid=350000000000001",
  "people, page 1": () => "/console/api/people/?page_size=50&ordering=last_name,first_name,email",
  "people, without devices": () => "/console/api/people/?page_size=50&has_devices=false",
  "people, search": () => "/console/api/people/?page_size=50&search=person-9",
  "members, page 1": () => "/api/v1/auth/users/?page_size=100&search=",
  "invitations, pending": () => "/api/v1/organizations/invitations/?status=10",
  "audit log, page 1": () => "/api/v1/audit-log/",
  "open alarms": () => "/api/v1/events/?acknowledged=false&severity=critical,warning&page_size=200",
  integrations: () => "/console/api/integrations/",
  attempts: ({ integrationId }) => `/console/api/integrations/${integrationId}/attempts/`,
  "attempts that failed": ({ integrationId }) => `/console/api/integrations/${integrationId}/attempts/?status=failed`,
  "attempts of a device": ({ integrationId }) =>
    `/console/api/integrations/${integrationId}/attempts/?device_uid=000000000000007`,
  "dead letters": ({ integrationId }) => `/console/api/integrations/${integrationId}/dead-letters/`,
  "health of a webhook": ({ integrationId }) => `/console/api/integrations/${integrationId}/health/`,
  "events of the log": ({ integrationId }) => `/console/api/integrations/${integrationId}/events/`,
};

/** What the pages of an operator ask for. They are of the whole service: measured with a small one, then with a large one. */
const operatorLists: Record<string, (world: World) => string> = {
  "operator: organizations": () => "organizations/?page_size=50",
  "operator: webhooks": () => "integrations/?page_size=50",
  "operator: failing webhooks": () => "integrations/?page_size=50&failing=true",
  "operator: dead letters": ({ integrationId }) => `integrations/${integrationId}/dead-letters/`,
  "operator: failed jobs": () => "failed-jobs/?page_size=50",
  "operator: poisoned packets": () => "poisoned-packets/?page_size=50",
  "operator: queues": () => "queues/",
  "operator: database": () => "database/",
  "operator: log": () => "log/?page_size=50",
};

/** Mails and texts that were given up, packets set aside, and what operators did. */
async function fillFailures(db: Client, organizationId: string, count: number): Promise<void> {
  const given = [organizationId, count];
  await db.query(
    `insert into mails (id, organization_id, kind, recipient, locale, status, attempts, next_attempt_at, last_error, created_at, finished_at)
     select gen_random_uuid(), $1, 'invitation', 'guest-' || n || '@example.org', 'en', case when n % 2 = 0 then 'failed' else 'sent' end,
       5, now(), 'refused by guest-' || n || '@example.org', now(), now() - n * interval '1 second'
     from generate_series(1, $2::int) n`,
    given,
  );
  await db.query(
    `insert into messages (device_id, id, organization_id, direction, message_type, status, text, is_tts, sender_name, failure_reason, ts,
       created_at, search)
     select id, gen_random_uuid(), organization_id, 'outbound', 'voice', 'failed', 'x', true, '', 'tts_failed', now(),
       now() - row_number() over (order by id) * interval '1 second', 'x'
     from devices where organization_id = $1 limit $2`,
    given,
  );
  await db.query(
    `insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
     select gen_random_uuid(), organization_id, id, 'iw', 'TypeError', 'IWAP49,61#'::bytea,
       now() - row_number() over (order by id) * interval '1 second'
     from devices where organization_id = $1 limit $2`,
    given,
  );
  await db.query(
    `insert into operator_log (operator_id, operator_email, action, detail, at)
     select gen_random_uuid(), $1, 'sign_in', '{}', now() from generate_series(1, $2::int)`,
    [operatorEmail, count],
  );
}

async function makeWorld(http: string, db: Client, env: Record<string, string>, size: Size): Promise<World> {
  const create = ["org", "create", "--name", size, "--slug", size, "--feature", "managed_onboarding"];
  const limits = ["--per-minute", "1000000000", "--per-hour", "1000000000"];
  const { id } = await vigilJson<{ id: string }>([...create, ...limits], env);
  const email = `${size}@example.org`;
  const user = ["user", "create", "--org", size, "--email", email, "--role", "ADMIN", "--password-stdin"];
  const { code, stderr } = await runVigil(user, env, `${password}\n`);
  if (code !== 0) throw new Error(stderr);
  const integration = ["integration", "create", "--org", size, "--name", "Ward board"];
  const { id: integrationId } = await vigilJson<{ id: string }>(integration, env);
  await fillOrganization(db, id, deviceCounts[size], size === "small" ? 900_000 : 0);
  await fillLog(db, { organizationId: id, integrationId }, deliveryCounts[size], new Date());
  await db.query("update integrations set webhook_url = $1, webhook_paused = true where id = $2", [
    "https://hooks.invalid/vigil",
    integrationId,
  ]);
  await fillFailures(db, id, deviceCounts[size]);
  await db.query("vacuum analyze");
  return { id, integrationId, cookie: await signIn(http, email) };
}

async function signIn(http: string, email: string): Promise<string> {
  const answer = await fetch(`${http}/console/api/session/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  if (answer.status !== 204) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;
}

/** The time of a list of the console in a large organization to that in a small one: pages must not grow with it. */
export async function benchConsoleLists(): Promise<Row[]> {
  const folder = await tempFolder();
  const server = await openEmbeddedServer({ dataDir: folder.path, log: makeLogger("silent"), purpose: "command" });
  const env = { DATABASE_URL: embeddedUrl(server.connection) };
  const service = await startVigil([], env);
  const db = new Client({ connectionString: env.DATABASE_URL });
  await db.connect();
  const time = async (cookie: string, path: string): Promise<number> => {
    const started = performance.now();
    const answer = await fetch(service.http + path, { headers: { cookie } });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return performance.now() - started;
  };
  try {
    const create = ["user", "create", "--operator", "--email", operatorEmail, "--password-stdin"];
    const { code, stderr } = await runVigil(create, env, `${password}\n`);
    if (code !== 0) throw new Error(stderr);
    const operator = await signIn(service.http, operatorEmail);
    const rows: Row[] = [];
    const note = (what: string, times: Record<Size, number[]>): void => {
      const [ours, bare] = [median(times.large) * 1000, median(times.small) * 1000];
      rows.push({ what, ours, bare, unit: "us", ratios: [ours / bare] });
      console.log(`  ${what}: ${Math.round(ours)} us of ${Math.round(bare)} us, ratio ${(ours / bare).toFixed(2)}`);
    };
    const operated: Record<Size, Record<string, number[]>> = { small: {}, large: {} };
    const open = async (size: Size): Promise<World> => {
      const world = await makeWorld(service.http, db, env, size);
      console.log(`  ${size} organization with ${deviceCounts[size]} devices and ${deliveryCounts[size]} deliveries`);
      for (const [what, pathOf] of Object.entries(operatorLists)) {
        const times: number[] = [];
        for (let round = 0; round < rounds + 3; round++) {
          times.push(await time(operator, `/console/api/operator/${pathOf(world)}`));
        }
        operated[size][what] = times.slice(3);
      }
      return world;
    };
    const worlds = { small: await open("small"), large: await open("large") };
    for (const what of Object.keys(operatorLists)) {
      note(what, { small: operated.small[what] as number[], large: operated.large[what] as number[] });
    }
    for (const [what, pathOf] of Object.entries(lists)) {
      const times = { small: [] as number[], large: [] as number[] };
      for (let round = 0; round < rounds + 3; round++) {
        for (const size of ["small", "large"] as const) {
          const ms = await time(worlds[size].cookie, pathOf(worlds[size], deviceCounts[size]));
          if (round >= 3) times[size].push(ms);
        }
      }
      note(what, times);
    }
    return rows;
  } finally {
    await db.end();
    await service.kill("SIGTERM");
    await server.release();
    await folder.remove();
  }
}
