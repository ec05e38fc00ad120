import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renewProcess } from "../../src/console/operator/process-store.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { removeOperator } from "../../src/oauth/operator-store.ts";
import { countUnknownDevices, saveThrottledNetworks } from "../../src/resources/devices/unknown-device-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { type BrowserCalls, signIn } from "../support/browser-session.ts";
import { auditOf, makeDevice } from "../support/fixtures.ts";
import { makeOperator } from "../support/operators.ts";
import { makeOrganization, makePerson, password, type TestOrganization } from "../support/world.ts";

const root = "/console/api/operator/";

describe("what operators see and do", () => {
  let api: TestApi;
  let own: TestOrganization;
  let operator: BrowserCalls;

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    own = await makeOrganization(api, { slug: "care-co" });
    await makeOperator(api, "ops@example.org");
    operator = await signIn(api, "ops@example.org");
  });
  afterAll(() => api.close());

  const logged = async (): Promise<string[]> =>
    (await operator.get(`${root}log/`)).body.results.map(({ action }: { action: string }) => action);

  it("says who an operator is, without an organization", async () => {
    const { body } = await operator.get("/console/api/me/");
    expect(body).toEqual({
      user: { id: expect.any(String), email: "ops@example.org", full_name: "" },
      organization: null,
      role: null,
      operator: true,
    });
    expect((await operator.get("/console/api/preferences/")).body.organizations).toEqual([]);
    expect((await operator.get("/console/api/sessions/")).body).toMatchObject([{ current: true }]);
    expect((await operator.send("PATCH", "/console/api/me/", { locale: "de" })).body.locale).toBe("de");
  });

  it("lets an operator in without an organization only, by cookie and by token", async () => {
    const wrong = { email: "ops@example.org", password, organization: own.slug };
    expect((await api.call("POST", "/console/api/session/", { body: wrong })).body.code).toBe("invalid_credentials");
    const login = await api.call("POST", "/console/api/login/", { body: { email: "ops@example.org", password } });
    expect(login.body.user).toMatchObject({ email: "ops@example.org" });
    const token = login.body.access_token as string;
    expect((await api.call("GET", `${root}processes/`, { token })).status).toBe(200);
    expect((await api.call("GET", "/api/v1/devices/", { token })).body.code).toBe("role_not_allowed");
    const bad = { email: "ops@example.org", password: "not this one" };
    expect((await api.call("POST", "/console/api/session/", { body: bad })).status).toBe(401);
    expect((await logged()).slice(0, 2)).toEqual(["sign_in_failed", "sign_in"]);
  });

  it("ends sessions and tokens with the rights, and does not revive them", async () => {
    const { email } = await makeOperator(api, "gone@example.org");
    const gone = await signIn(api, email);
    const { access_token: token } = (await api.call("POST", "/console/api/login/", { body: { email, password } })).body;
    await api.db.transaction((tx) => removeOperator(tx, email, api.clock.now()));
    expect((await gone.get("/console/api/me/")).status).toBe(401);
    expect((await api.call("GET", "/console/api/me/", { token })).status).toBe(401);
    await makeOperator(api, email);
    expect((await gone.get("/console/api/me/")).status).toBe(401);
    expect((await api.call("GET", "/console/api/me/", { token })).status).toBe(401);
  });

  it("changes the password of an operator, and ends the other sessions", async () => {
    const { email } = await makeOperator(api, "changing@example.org");
    const [here, there] = [await signIn(api, email), await signIn(api, email)];
    const body = { current_password: password, new_password: "a quite different one" };
    expect((await here.send("POST", "/console/api/password/", body)).status).toBe(204);
    expect((await there.get("/console/api/me/")).status).toBe(401);
    expect((await here.get("/console/api/me/")).status).toBe(200);
    expect((await logged())[0]).toBe("password_changed");
    expect((await here.send("DELETE", "/console/api/session/")).status).toBe(204);
    expect((await here.get("/console/api/me/")).status).toBe(401);
  });

  it("creates and changes organizations, in both logs", async () => {
    const made = await operator.send("POST", `${root}organizations/`, {
      name: "Home & Hearth",
      timezone: "europe/rome",
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      slug: "home-and-hearth",
      timezone: "Europe/Rome",
      default_locale: "en",
      features: [],
      rate_limits: { per_minute: 600, per_hour: 20_000 },
    });
    const path = `${root}organizations/home-and-hearth/`;
    const changes = { features: ["pin_sim"], retention: { locations: 30 }, rate_limits: { per_minute: 10 } };
    expect((await operator.send("PATCH", path, changes)).body).toMatchObject({
      features: ["pin_sim"],
      retention: { locations: 30 },
      rate_limits: { per_minute: 10, per_hour: 20_000 },
    });
    const entries = await auditOf(api, made.body.id);
    expect(entries).toHaveLength(2);
    const [entry] = await api.db.many`
      select actor_type, actor_user, additional_data from audit_log where object_pk = ${made.body.id} order by id desc`;
    expect(entry).toMatchObject({
      actor_type: "users",
      actor_user: { email: "ops@example.org" },
      additional_data: { via: "operator" },
    });
    await operator.send("PATCH", path, { features: ["pin_sim"] });
    expect((await logged()).slice(0, 2)).toEqual(["organization_changed", "organization_created"]);
    expect((await operator.get(`${root}organizations/?search=hearth`)).body).toMatchObject({
      count: 1,
      results: [{ slug: "home-and-hearth", devices: 0, members: 0 }],
    });
  });

  it("refuses settings that the command line refuses", async () => {
    const send = (body: unknown) => operator.send("POST", `${root}organizations/`, body);
    expect((await send({ name: "Care Co" })).body.errors).toEqual({ slug: ["Another organization has this slug."] });
    expect((await send({ name: "漢" })).body.errors).toHaveProperty("slug");
    const bad = { name: "X", slug: "Not A Slug", timezone: "+01:00", gateway_networks: ["ten"], share_domains: ["x"] };
    expect(Object.keys((await send(bad)).body.errors)).toEqual([
      "slug",
      "timezone",
      "gateway_networks",
      "share_domains",
    ]);
    expect((await send({ name: "X", features: ["flying"] })).status).toBe(400);
    expect((await operator.get(`${root}organizations/nobody/`)).status).toBe(404);
  });

  it("shows processes, their leases and what they measured, dead ones too", async () => {
    const now = api.clock.now();
    const id = newUuid();
    const figures = {
      memory_bytes: 1000,
      gateway: { connections: 2, devices: 1, unlogged: 1, is_paused: false, frames_per_second: { test: 1.5 } },
    };
    const row = { id, host: "one", pid: 7, version: "0", roles: ["gateway", "worker"], started_at: now, seen_at: now };
    await renewProcess(api.db, { ...row, lease_until: new Date(now.getTime() + 15_000), figures });
    const dead = { ...row, id: newUuid(), roles: ["api"], lease_until: new Date(now.getTime() - 1) };
    await renewProcess(api.db, { ...dead, figures: { memory_bytes: 1 } });
    await api.db.run`
      insert into gateway_nodes (id, started_at, lease_until) values (${id}, ${now}, ${new Date(now.getTime() + 9000)})`;
    const device = await makeDevice(api, own);
    await api.db.run`
      insert into device_sessions (device_id, organization_id, node_id, epoch, protocol, remote_addr, connected_at)
      values (${device.id}, ${own.id}, ${id}, 1, 'test', '192.0.2.1', ${now})`;
    const { results } = (await operator.get(`${root}processes/`)).body;
    expect(results).toMatchObject([
      {
        id,
        is_alive: true,
        roles: ["gateway", "worker"],
        leases: [{ kind: "process" }, { kind: "gateway", count: 1 }],
      },
      { id: dead.id, is_alive: false },
    ]);
    expect((await operator.get(`${root}gateways/`)).body.results).toEqual([
      {
        id,
        host: "one",
        pid: 7,
        is_alive: true,
        figures: figures.gateway,
        ingest: null,
        connections: [{ protocol: "test", transport: "tcp", count: 1 }],
      },
    ]);
  });

  it("shows what waits and what was given up, without addresses of people", async () => {
    const now = api.clock.now();
    const error = "550 <ada@example.org>: no such user, alias of bess@example.org";
    for (const status of ["failed", "queued"]) {
      await api.db.run`
        insert into mails (id, organization_id, kind, recipient, locale, status, attempts, next_attempt_at, last_error,
          created_at, finished_at)
        values (${newUuid()}, ${own.id}, 'invitation', 'ada@example.org', 'en', ${status}, 3,
          ${new Date(now.getTime() - 60_000)}, ${error}, ${now}, ${now})`;
    }
    const queues = (await operator.get(`${root}queues/`)).body.results;
    expect(queues.map(({ queue }: { queue: string }) => queue)).toEqual([
      "mails",
      "places",
      "speech",
      "deliveries",
      "dead_letters",
      "poisoned_packets",
    ]);
    expect(queues[0]).toEqual({ queue: "mails", waiting: 1, late_seconds: expect.any(Number) });
    expect(queues[0].late_seconds).toBeGreaterThanOrEqual(60);
    expect((await operator.get(`${root}failed-jobs/`)).body).toMatchObject({
      next: null,
      results: [
        {
          kind: "mail",
          subject: "invitation",
          organization: "care-co",
          error: "550 <***>: no such user, alias of ***",
        },
      ],
    });
  });

  it("measures the database by table and partition, and runs the doctor", async () => {
    const { body } = await operator.get(`${root}database/`);
    expect(body.bytes).toBeGreaterThan(1_000_000);
    const events = body.tables.find(({ name }: { name: string }) => name === "outbound_events");
    expect(events.partitions.map(({ name }: { name: string }) => name)).toContain("outbound_events_default");
    const doctor = (await operator.get(`${root}doctor/`)).body;
    expect(doctor.checks.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["node", "database", "migrations", "clock"]),
    );
  });

  it("lists unknown devices of everybody to operators, with the networks that are slowed", async () => {
    const now = api.clock.now();
    const seen = { protocol: "test", count: 3, first_seen_at: now, last_seen_at: now };
    const imei = "490154203237518";
    await countUnknownDevices(api.db, [{ ...seen, imei, remote_addr: "198.51.100.9" }]);
    await countUnknownDevices(api.db, [{ ...seen, imei: "356938035643809", remote_addr: "203.0.113.5" }]);
    const until = new Date(now.getTime() + 900_000);
    await saveThrottledNetworks(api.db, [{ network: "198.51.100.9", throttled_until: until }]);
    for (const path of [`${root}unknown-devices/`, "/console/api/unknown-devices/"]) {
      const { body } = await operator.get(`${path}?ordering=imei`);
      expect(body).toMatchObject({
        count: 2,
        results: [
          { imei: "356938035643809", throttled_until: null },
          { imei, count: 3, throttled_until: until.toISOString() },
        ],
      });
      expect((await operator.get(`${path}?uid=${imei}`)).body.count).toBe(1);
      expect((await operator.get(`${path}?page_size=1`)).body.next).toContain("page=2");
    }
    const admin = await signIn(api, (await makePerson(api, own, "ADMIN")).email);
    expect((await admin.get("/console/api/unknown-devices/")).status).toBe(400);
  });
});
