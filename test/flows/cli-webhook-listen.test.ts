import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyWebhook } from "../../client/src/verify-webhook.ts";
import { openDatabase } from "../../src/db/database.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
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

test("refuses what it cannot forward to", async () => {
  const id = "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31";
  const listen = ["webhooks", "listen", "--integration", id, "--forward"];
  await cli.expectFailure([...listen, "ftp://127.0.0.1/"], 2, /--forward must be an http or https URL/);
  await cli.expectFailure([...listen, "http://127.0.0.1:1/", "--count", "0"], 2, /--count/);
  await cli.expectFailure([...listen, "http://127.0.0.1:1/"], 1, /there is no integration/);
});
