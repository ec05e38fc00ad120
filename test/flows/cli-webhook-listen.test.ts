import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWebhook } from "../../client/src/verify-webhook.ts";
import { openDatabase } from "../../src/db/database.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { newWebhookSecret } from "../../src/resources/organizations/webhook-secret.ts";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";
import { tell } from "../support/outbound.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await openCommandLine();
});
afterAll(() => cli.close());

test("forwards the events of an integration after the cursor, signed like a delivery", async () => {
  const slug = await cli.makeOrganization();
  const integration = await cli.makeIntegration(slug, "--scopes", "events:read");
  const { rows } = await cli.sql.query("select id from organizations where slug = $1", [slug]);
  const db = openDatabase({ connection: { connectionString: cli.database.url }, log: makeLogger("silent") });
  await tell({ db, clock: makeClock() }, { id: rows[0].id, slug }, ["alarm.sos", "location.update", "alarm.fall"]);
  await db.close();
  const seen: { headers: IncomingHttpHeaders; raw: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ headers: request.headers, raw: Buffer.concat(chunks) });
    response.writeHead(seen.length === 1 ? 200 : 500).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const forward = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const since = "00000000-0000-7000-8000-000000000000";
  const options = ["--integration", integration.id, "--forward", forward, "--since", since, "--count", "2", "--json"];
  const { code, stdout, stderr } = await cli.vigil(["webhooks", "listen", ...options]);
  server.close();
  const events = seen.map(({ headers, raw }) => {
    const secret = integration.webhook_secret ?? /secret (whsec_\S+)\./.exec(stderr)?.[1] ?? "";
    expect(headers).toMatchObject({ "x-delivery-attempt": "1", "user-agent": "Vigil-Webhooks/1" });
    return verifyWebhook(raw, headers, secret);
  });
  expect(events.map(({ type }) => type)).toEqual(["alarm.sos", "alarm.fall"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ delivered: 1, failed: 1, last_id: events[1]?.id });
  expect(stderr).toContain("alarm.fall  500");
});

test("signs with the secret of a file, of stdin, of the environment or of an option, and never shows it", async () => {
  const slug = await cli.makeOrganization();
  const { id } = await cli.makeIntegration(slug, "--scopes", "events:read");
  const { rows } = await cli.sql.query("select id from organizations where slug = $1", [slug]);
  const db = openDatabase({ connection: { connectionString: cli.database.url }, log: makeLogger("silent") });
  await tell({ db, clock: makeClock() }, { id: rows[0].id, slug }, ["alarm.sos"]);
  await db.close();
  const bodies: { headers: IncomingHttpHeaders; raw: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push({ headers: request.headers, raw: Buffer.concat(chunks) });
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const forward = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const since = "00000000-0000-7000-8000-000000000000";
  const listen = ["webhooks", "listen", "--integration", id, "--forward", forward, "--since", since, "--count", "1"];
  const [secret, other] = [newWebhookSecret(), newWebhookSecret()];
  const file = join(cli.dataDir, "hook.secret");
  await writeFile(file, `${secret}\n`);
  const outcomes = [
    await cli.vigil([...listen, "--secret-file", file], { VIGIL_WEBHOOK_SECRET: other }),
    await cli.vigil([...listen, "--secret-file", "-"], {}, `${secret}\n`),
    await cli.vigil(listen, { VIGIL_WEBHOOK_SECRET: secret }),
    await cli.vigil([...listen, "--secret", secret], { VIGIL_WEBHOOK_SECRET: other }),
  ];
  server.close();
  for (const { code, stdout, stderr } of outcomes) {
    expect([code, stderr]).toEqual([0, expect.stringContaining("signed with the secret that you gave")]);
    expect(stdout + stderr).not.toContain(secret);
  }
  expect(bodies.map(({ headers, raw }) => verifyWebhook(raw, headers, secret).type)).toEqual(
    outcomes.map(() => "alarm.sos"),
  );
  await cli.expectFailure([...listen, "--secret", secret, "--secret-file", file], 2, /exclude each other/);
  await cli.expectFailure([...listen, "--secret-file", `${file}.gone`], 1, /cannot read the secret in .*ENOENT/);
  await cli.expectFailure(
    [...listen, "--secret-file", "-"],
    1,
    /the secret on stdin must be "whsec_"/,
    {},
    "open sesame",
  );
  await cli.expectFailure(listen, 1, /VIGIL_WEBHOOK_SECRET must be "whsec_"/, { VIGIL_WEBHOOK_SECRET: "open sesame" });
});

test("refuses what it cannot forward to", async () => {
  const id = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
  const listen = ["webhooks", "listen", "--integration", id, "--forward"];
  await cli.expectFailure([...listen, "ftp://127.0.0.1/"], 2, /--forward must be an http or https URL/);
  await cli.expectFailure([...listen, "http://127.0.0.1:1/", "--count", "0"], 2, /--count/);
  await cli.expectFailure([...listen, "http://127.0.0.1:1/"], 1, /there is no integration/);
});
