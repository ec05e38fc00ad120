import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import * as oauth from "oauth4webapi";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import {
  type Credentials,
  fetchTokenOf,
  makeCredentials,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

const status = (url: string, token?: string): Promise<number> =>
  fetch(url, { headers: token ? { authorization: `Bearer ${token}` } : {} }).then(
    (answer) => answer.status,
    () => 0,
  );

describe("the service on an embedded database", () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let running: RunningVigil | undefined;
  let credentials: Credentials;
  const here = () => ["--data-dir", folder.path];

  beforeAll(async () => {
    folder = await tempFolder();
    running = await startVigil(here(), { VIGIL_LOG_LEVEL: "debug" });
    credentials = await makeCredentials(here());
  });
  afterAll(async () => {
    await running?.kill("SIGKILL");
    await vi.waitFor(() => expect(postmasterPid(folder.path)).toBeUndefined(), { timeout: 20_000 });
    await folder.remove();
  });

  it("answers a first call, tells how to begin, and serves health, readiness and metrics", async () => {
    const { http, ops, stderr } = running as RunningVigil;
    const token = await fetchTokenOf(http, credentials);
    expect(await status(`${http}/api/v1/organizations/self/`, token)).toBe(200);
    expect(stderr()).toContain("vigil org create");
    expect(await status(`${ops}/healthz`)).toBe(200);
    expect(await status(`${ops}/readyz`)).toBe(200);
    const metrics = await (await fetch(`${ops}/metrics`)).text();
    expect(metrics).toContain(
      'vigil_http_requests_total{route="/api/v1/organizations/self/",method="GET",status="200"} 1',
    );
    expect(await status(`${ops}/api/v1/protocols/`)).toBe(404);
  });

  it("refuses a second service on the same folder, and the first goes on", async () => {
    await expect(startVigil(here())).rejects.toThrow(/another vigil service \(pid \d+\) is already running/);
    expect(await status(`${(running as RunningVigil).ops}/readyz`)).toBe(200);
  });

  it("ends tokens at once when the command line disables the integration", async () => {
    const { http } = running as RunningVigil;
    const other = await makeCredentials(here());
    const token = await fetchTokenOf(http, other);
    const self = `${http}/api/v1/organizations/self/`;
    expect(await status(self, token)).toBe(200);
    await vigilJson(["integration", "disable", other.id, ...here()]);
    expect(await status(self, token)).toBe(401);
  });

  it("writes no token, secret or query into its log", async () => {
    const { http, stderr } = running as RunningVigil;
    const token = await fetchTokenOf(http, credentials);
    await status(`${http}/api/v1/protocols/?search=some-secret-text`, token);
    await expect.poll(() => stderr()).toContain("/api/v1/protocols/");
    for (const secret of [token, credentials.client_secret, "some-secret-text"]) expect(stderr()).not.toContain(secret);
  });

  it("recovers by itself when its database is killed, answering 503 meanwhile", async () => {
    const { http } = running as RunningVigil;
    const token = await fetchTokenOf(http, credentials);
    const self = `${http}/api/v1/organizations/self/`;
    process.kill(postmasterPid(folder.path) as number, "SIGKILL");
    const seen = new Set<number>();
    await expect
      .poll(
        async () => {
          const answer = await fetch(`${http}/o/token/`, {
            method: "POST",
            body: new URLSearchParams({ grant_type: "client_credentials", ...pick(credentials) }),
          });
          seen.add(answer.status);
          if (answer.status === 503) expect(answer.headers.get("retry-after")).toBeTruthy();
          return answer.status;
        },
        { timeout: 30_000, interval: 20 },
      )
      .toBe(200);
    expect([...seen].filter((code) => ![200, 503].includes(code))).toEqual([]);
    await expect.poll(() => status(self, token), { timeout: 20_000 }).toBe(200);
  });

  it("comes up again after kill -9 with everything that was confirmed, and leaves no second server", {
    timeout: 120_000,
  }, async () => {
    const confirmed: string[] = [];
    for (let round = 0; round < 3; round++) {
      const writes = Array.from({ length: 4 }, async (_, index) => {
        const slug = `crash-${round}-${index}`;
        const { code } = await runVigil(["org", "create", "--name", slug, "--slug", slug, ...here()]);
        if (code === 0) confirmed.push(slug);
      });
      await Promise.race(writes);
      await (running as RunningVigil).kill("SIGKILL");
      await Promise.all(writes);
      running = await startVigil(here());
    }
    const slugs = (await vigilJson<{ slug: string }[]>(["org", "list", ...here()])).map(({ slug }) => slug);
    expect(confirmed.length).toBeGreaterThan(0);
    expect(confirmed.filter((slug) => !slugs.includes(slug))).toEqual([]);
    const token = await fetchTokenOf(running?.http as string, credentials);
    expect(await status(`${running?.http}/api/v1/organizations/self/`, token)).toBe(200);
  });

  it("drains and stops on SIGTERM with exit code 0, its database with it", async () => {
    expect(await (running as RunningVigil).kill("SIGTERM")).toBe(0);
    await expect.poll(() => postmasterPid(folder.path), { timeout: 20_000 }).toBeUndefined();
    running = undefined;
  });

  it("lets commands work while it is stopped", async () => {
    const status = await vigilJson<{ migrations?: unknown }>(["db", "status", ...here()]);
    expect(status).toBeTruthy();
    await expect.poll(() => postmasterPid(folder.path), { timeout: 20_000 }).toBeUndefined();
  });
});

const pick = ({ client_id, client_secret }: Credentials) => ({ client_id, client_secret });

function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0]);
  } catch {
    return undefined;
  }
}

describe("a worker alone on an embedded database", () => {
  it("steps back for other processes, and its database does not", async () => {
    const folder = await tempFolder();
    const worker = await startVigil(["--data-dir", folder.path, "--roles", "worker"]);
    const usual = getPriority();
    const priorities = [worker.process.pid, postmasterPid(folder.path)].map((pid) => getPriority(pid));
    await worker.kill("SIGTERM");
    await folder.remove();
    expect(priorities).toEqual([Math.max(5, usual), usual]);
  });
});

describe("the service on an external database", () => {
  let database: TestDatabase;
  const running: RunningVigil[] = [];

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.kill("SIGKILL")));
  });
  afterAll(() => database.drop());

  it("migrates at start, also when two processes start at once, and shares limits between them", async () => {
    const env = { DATABASE_URL: database.url };
    running.push(
      ...(await Promise.all([startVigil(["--roles", "api"], env), startVigil(["--roles", "api,worker"], env)])),
    );
    await vigilJson(["org", "create", "--name", "Small", "--slug", "small", "--per-minute", "40"], env);
    const credentials = await vigilJson<Credentials>(["integration", "create", "--org", "small", "--name", "App"], env);
    const [first, second] = running as [RunningVigil, RunningVigil];
    const token = await fetchTokenOf(first.http, credentials);
    const calls = Array.from({ length: 120 }, (_, index) => {
      const { http } = index % 2 === 0 ? first : second;
      return status(`${http}/api/v1/protocols/iw/`, token);
    });
    const answers = await Promise.all(calls);
    expect(answers.filter((code) => code === 200)).toHaveLength(40);
    expect(answers.filter((code) => code === 429)).toHaveLength(80);
  });

  it("gives a real OAuth client a token, with Basic and with form credentials", async () => {
    const env = { DATABASE_URL: database.url };
    running.push(await startVigil([], env));
    const http = running[0]?.http as string;
    const { client_id, client_secret } = await makeCredentials([], env);
    const options = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(http);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...options }),
    );
    for (const authentication of [oauth.ClientSecretBasic(client_secret), oauth.ClientSecretPost(client_secret)]) {
      const answer = await oauth.clientCredentialsGrantRequest(
        server,
        { client_id },
        authentication,
        { scope: "org:read" },
        options,
      );
      const grant = await oauth.processClientCredentialsResponse(server, { client_id }, answer);
      expect(grant).toMatchObject({ token_type: "bearer", expires_in: 3600, scope: "org:read" });
      expect(await status(`${http}/api/v1/organizations/self/`, grant.access_token)).toBe(200);
      const seen = await oauth.introspectionRequest(server, { client_id }, authentication, grant.access_token, options);
      expect(await oauth.processIntrospectionResponse(server, { client_id }, seen)).toMatchObject({ active: true });
      const revoked = await oauth.revocationRequest(server, { client_id }, authentication, grant.access_token, options);
      expect(await oauth.processRevocationResponse(revoked)).toBeUndefined();
      expect(await status(`${http}/api/v1/organizations/self/`, grant.access_token)).toBe(401);
    }
  });

  it("answers what is no HTTP in its own shape, with a request id", async () => {
    running.push(await startVigil([], { DATABASE_URL: database.url }));
    const { port } = new URL(running[0]?.http as string);
    for (const [request, status] of [
      ["FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
      [`GET /${"a".repeat(80_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ] as const) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(request);
      const [head, body] = (await text(socket)).split("\r\n\r\n") as [string, string];
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(JSON.parse(body).request_id).toBe(/x-request-id: (\S+)/i.exec(head)?.[1]);
    }
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GET /api/v1/protocols/ HTTP/1.1\r\nConnection: close\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 401 /);
  });

  it("says in one line that the server cannot be reached, without the password", async () => {
    const url = "postgresql://vigil:hidden-password@127.0.0.1:1/vigil";
    const error = await startVigil([], { DATABASE_URL: url }).then(
      () => new Error("it started"),
      (reason: Error) => reason,
    );
    expect(error.message).toMatch(/vigil ended with 1: /);
    expect(error.message).not.toContain("hidden-password");
    expect(error.message.trim().split("\n")).toHaveLength(1);
  });
});
