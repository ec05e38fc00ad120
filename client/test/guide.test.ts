import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { webhookHeaders } from "../../src/outbound/webhook-signature.ts";
import { tell } from "../../test/support/outbound.ts";
import { until } from "../../test/support/until.ts";
import { openPartnerApi, type PartnerApi } from "../../test/support/world.ts";
import type { Follower } from "../src/vigil-client.ts";

/** The code of docs/partners/client.md, run as it stands there against a listening service. */
const root = resolve(import.meta.dirname, "../..");
const uid = "490154203237518";
const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
let partner: PartnerApi;
let folder: string;
let page: string;
let lines: string[];

beforeAll(async () => {
  page = await readFile(join(root, "docs/partners/client.md"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "vigil-guide-"));
  partner = await openPartnerApi({ isPrivate: true });
  const { clientId, clientSecret } = partner.integration;
  vi.stubEnv("VIGIL_URL", await partner.api.app.listen({ port: 0, host: "127.0.0.1" }));
  vi.stubEnv("VIGIL_CLIENT_ID", clientId);
  vi.stubEnv("VIGIL_CLIENT_SECRET", clientSecret);
  vi.stubEnv("VIGIL_WEBHOOK_SECRET", secret);
  vi.stubEnv("PORT", "0");
  vi.stubEnv("CURSOR_FILE", join(folder, "cursor"));
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  vi.unstubAllEnvs();
  await partner.api.close();
  await rm(folder, { recursive: true });
});

async function run<T>(heading: string): Promise<T> {
  lines = [];
  vi.spyOn(console, "log").mockImplementation((line) => lines.push(String(line)));
  const section = page.split(`## ${heading}\n`)[1] ?? "";
  const code = /```ts\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
  const entry = join(root, "client/src/vigil-client.ts");
  const file = join(folder, `${heading.replaceAll(" ", "-")}.ts`);
  await writeFile(file, code.replace('"vigil-client"', JSON.stringify(entry)));
  return (await import(/* @vite-ignore */ file)) as T;
}

describe("the code of the guide", () => {
  it("makes first calls", async () => {
    await run("First calls");
    expect(lines).toEqual([`organization: Organization ${partner.organization.slug}`, `device: ${uid} Anna's watch`]);
  });

  it("tells errors apart", async () => {
    await run("Errors");
    expect(lines).toEqual([expect.stringMatching(/^wrong fields: .*uid/)]);
  });

  it("sends a command and waits for its end", async () => {
    const { db } = partner.api;
    const running = run("Commands");
    await until(() => expect(lines).toEqual(["accepted: pending"]));
    await db.run`update commands set status = 'ack_ok', acked_at = now(), completed_at = now()`;
    await running;
    expect(lines).toEqual(["accepted: pending", "ended: ack_ok"]);
  });

  it("receives a webhook", async () => {
    const { server } = await run<{ server: Server }>("Receive webhooks");
    await until(() => expect(server.listening).toBe(true));
    const event = { id: "019ca877-8198-7a3c-9f61-2b7e5d0c4a11", type: "alarm.sos", device: { uid } };
    const body = Buffer.from(JSON.stringify({ ...event, data: { message: "SOS pressed" } }));
    const headers = webhookHeaders({ ...event, body }, 1, { current: secret, previous: null }, Date.now());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect((await fetch(url, { method: "POST", headers, body: new Uint8Array(body) })).status).toBe(200);
    server.closeAllConnections();
    server.close();
    expect(lines).toEqual([`SOS of ${uid}: SOS pressed`]);
  });

  it("follows the log", async () => {
    await tell(partner.api, partner.organization, ["alarm.sos", "alarm.fall"]);
    const { follower } = await run<{ follower: Follower }>("Follow the log");
    await until(() => expect(lines).toEqual([`alarm.sos ${uid}`, `alarm.fall ${uid}`]));
    await follower.stop();
  });
});
