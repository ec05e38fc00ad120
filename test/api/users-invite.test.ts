import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { auditOf, createUser, freshEmail, userPath, usersPath } from "../support/people.ts";
import {
  logIn,
  makeIntegration,
  makeOrganization,
  makePerson,
  password,
  type TestOrganization,
} from "../support/world.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("portal activation", () => {
  let api: TestApi;
  let clock: ManualClock;
  let organization: TestOrganization;
  let token: string;

  beforeAll(async () => {
    clock = makeManualClock(new Date("2026-03-01T08:00:00.000Z"));
    api = await openTestApi({ clock });
    organization = await makeOrganization(api);
  });
  // Access tokens live for an hour of the clock that these tests move.
  beforeEach(async () => {
    token = (await makeIntegration(api, organization)).token;
  });
  afterAll(() => api.close());

  const invite = (id: string, by = token) => api.call("POST", `${userPath(id)}invite/`, { token: by });

  async function linkFor(email: string): Promise<string> {
    const [mail] = await api.db.many<{ params: { link: string } }>`
      select params from mails where recipient = ${email} order by created_at desc limit 1`;
    return mail?.params.link ?? "";
  }
  const tokenIn = (link: string): string => new URL(link).searchParams.get("token") ?? "";

  async function invited(): Promise<{ id: string; email: string; linkToken: string }> {
    const { body } = await createUser(api, token, { first_name: "Ada" });
    expect((await invite(body.id)).status).toBe(202);
    return { id: body.id, email: body.email, linkToken: tokenIn(await linkFor(body.email)) };
  }
  const activate = (body: unknown) => api.call("POST", "/console/api/activate/", { body });

  describe("the invitation", () => {
    it("queues a mail in the language of the organization with a link to the console", async () => {
      const { body: user } = await createUser(api, token);
      const answer = await invite(user.id);
      expect(answer.status).toBe(202);
      expect(answer.body).toEqual({ detail: "Invitation queued.", queued: true, already_active: false });
      const [mail] = await api.db.many`select * from mails where recipient = ${user.email}`;
      expect(mail).toMatchObject({
        kind: "portal_activation",
        locale: "it",
        status: "queued",
        organization_id: organization.id,
      });
      expect(mail?.params.organization_name).toBe(`Organization ${organization.slug}`);
      expect(mail?.params.link).toMatch(/^https:\/\/vigil\.example\/console\/activate\?token=[A-Za-z0-9_-]{43}$/);
      const [, entry] = await auditOf(api, organization, user.id);
      expect(entry).toMatchObject({ action: 1, changes: { activation_mailed_at: [null, clock.now().toISOString()] } });
    });

    it("keeps only a hash of the token", async () => {
      const { linkToken } = await invited();
      const tokens = await api.db.many<{ row: string }>`select activation_tokens::text as row from activation_tokens`;
      const hex = Buffer.from(linkToken).toString("hex");
      for (const { row } of tokens) expect(row.includes(linkToken) || row.includes(hex)).toBe(false);
      const entries = await api.db.many<{ row: string }>`select audit_log::text as row from audit_log`;
      for (const { row } of entries) expect(row).not.toContain(linkToken);
    });

    it("may be repeated after exactly one hour", async () => {
      const { id } = await invited();
      clock.advanceMs(600_500);
      const refused = await invite(id);
      expect(refused).toMatchObject({ status: 429, body: { code: "invite_rate_limited" } });
      expect(refused.headers["retry-after"]).toBe("3000");
      clock.advanceMs(hourMs - 600_500 - 1);
      const fresh = (await makeIntegration(api, organization)).token;
      expect((await invite(id, fresh)).headers["retry-after"]).toBe("1");
      clock.advanceMs(1);
      expect((await invite(id, fresh)).status).toBe(202);
    });

    it("goes out once under parallel calls", async () => {
      const { body: user } = await createUser(api, token);
      const answers = await Promise.all(Array.from({ length: 20 }, () => invite(user.id)));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(19);
      expect(await api.db.many`select 1 from mails where recipient = ${user.email}`).toHaveLength(1);
    });

    it("counts per membership", async () => {
      const { id, email } = await invited();
      const other = await makeIntegration(api, await makeOrganization(api));
      await createUser(api, other.token, { email });
      expect((await invite(id, other.token)).status).toBe(202);
    });

    it("is not sent to a person with a password, whatever the hour", async () => {
      const person = await makePerson(api, organization, "USER");
      for (let call = 0; call < 2; call++) {
        const answer = await invite(person.id);
        expect(answer.status).toBe(200);
        expect(answer.body).toEqual({ detail: "User is already active.", queued: false, already_active: true });
      }
    });

    it("needs its scope and a member", async () => {
      const { body: user } = await createUser(api, token);
      const writer = await makeIntegration(api, organization, { scopes: ["users:write", "users:read"] });
      expect(await invite(user.id, writer.token)).toMatchObject({
        status: 403,
        body: { required_scopes: ["users:invite"] },
      });
      expect(await invite("0d8c2f0e-6a51-4a0c-8f5a-9d1a0c6d7b10")).toMatchObject({ status: 404 });
    });
  });

  describe("the page", () => {
    const open = (query: string, language = "de") =>
      api.app.inject({ method: "GET", url: `/console/activate${query}`, headers: { "accept-language": language } });

    it("comes in the language of the organization and runs only our own files", async () => {
      const { linkToken, email } = await invited();
      const page = await open(`?token=${linkToken}`);
      expect(page.statusCode).toBe(200);
      expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(page.headers["referrer-policy"]).toBe("no-referrer");
      expect(page.headers["cache-control"]).toBe("no-store");
      const policy = String(page.headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(page.body).toContain('<html lang="it">');
      expect(page.body).toContain(email);
      expect(page.body).not.toContain(linkToken);
      expect(page.body).not.toMatch(/(src|href)="https?:/);
      expect(page.body).not.toMatch(/<script>|<style>| style="| on[a-z]+="/);
      for (const [, address] of page.body.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) {
        const asset = await api.app.inject({ method: "GET", url: address as string });
        expect(asset.statusCode, address).toBe(200);
        expect(asset.headers["content-type"]).toMatch(/^(text|application)\/(css|javascript)/);
      }
    });

    it("escapes what others have written", async () => {
      const own = await makeOrganization(api);
      await api.db.run`update organizations set name = '<b>"Care" & $& Co</b>' where id = ${own.id}`;
      const { token: ownToken } = await makeIntegration(api, own);
      const { body: user } = await createUser(api, ownToken);
      await invite(user.id, ownToken);
      const page = await open(new URL(await linkFor(user.email)).search);
      expect(page.body).toContain("&lt;b&gt;\\&quot;Care\\&quot; &amp; $&amp; Co&lt;/b&gt;");
      expect(page.body).not.toContain("<b>");
    });

    it("tells by its status that a link is unknown or has run out, in the language of the browser", async () => {
      for (const query of ["?token=nonsense", "", "?token=a&token=b", `?token=${"x".repeat(5000)}`]) {
        const page = await open(query);
        expect(page.statusCode).toBe(404);
        expect(page.body).toContain('<html lang="de">');
        expect(page.body).toContain("{&quot;kind&quot;:&quot;invalid&quot;}");
      }
      const { linkToken } = await invited();
      clock.advanceMs(7 * dayMs);
      const page = await open(`?token=${linkToken}`);
      expect(page.statusCode).toBe(410);
      expect(page.body).toContain('<html lang="it">');
      expect(page.body).toContain("{&quot;kind&quot;:&quot;expired&quot;}");
    });
  });

  describe("setting the password", () => {
    it("makes the person active in every organization and lets them sign in", async () => {
      const { id, email, linkToken } = await invited();
      const other = await makeOrganization(api);
      const { token: otherToken } = await makeIntegration(api, other);
      await createUser(api, otherToken, { email });
      const answer = await activate({ token: linkToken, password });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ detail: "The password has been set." });
      for (const each of [token, otherToken]) {
        expect((await api.call("GET", userPath(id), { token: each })).body.portal_active).toBe(true);
      }
      const session = await logIn(api, email, organization.slug);
      expect((await api.call("GET", usersPath, { token: session })).body.results[0].id).toBe(id);
      const entries = await api.db.many`
        select actor_type, actor_user, changes, correlation_id from audit_log where object_pk = ${id} and changes ? 'portal_active'
        order by id desc limit 1`;
      expect(entries[0]).toMatchObject({
        actor_type: "users",
        actor_user: { id, email, full_name: "Ada" },
        changes: { password: [null, "***"], portal_active: [false, true] },
        correlation_id: answer.headers["x-request-id"],
      });
      expect((await invite(id)).body.already_active).toBe(true);
    });

    it("works once, also when a link is used twice at the same time", async () => {
      const { linkToken } = await invited();
      const answers = await Promise.all(
        ["first password", "second password", "third password"].map((each) =>
          activate({ token: linkToken, password: each }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
      expect(await activate({ token: linkToken, password })).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    });

    it("uses up the links of other organizations and older mails too", async () => {
      const { id, email, linkToken } = await invited();
      const { token: otherToken } = await makeIntegration(api, await makeOrganization(api));
      await createUser(api, otherToken, { email });
      await invite(id, otherToken);
      const [otherLink] = (
        await api.db.many<{ params: { link: string } }>`select params from mails where recipient = ${email}`
      )
        .map(({ params }) => tokenIn(params.link))
        .filter((each) => each !== linkToken);
      expect((await activate({ token: linkToken, password })).status).toBe(200);
      expect((await activate({ token: otherLink, password: "another password" })).status).toBe(404);
    });

    it("refuses a link that has run out, and what is no password", async () => {
      const { linkToken, id } = await invited();
      const short = await activate({ token: linkToken, password: "7 chars" });
      expect(short).toMatchObject({
        status: 400,
        body: { errors: { password: ["Ensure this field has at least 8 characters."] } },
      });
      expect(await activate({ password })).toMatchObject({
        status: 400,
        body: { errors: { token: [expect.any(String)] } },
      });
      clock.advanceMs(7 * dayMs);
      const late = await activate({ token: linkToken, password });
      expect(late).toMatchObject({
        status: 400,
        body: { code: "validation_error", errors: { token: ["The link has expired."] } },
      });
      const fresh = (await makeIntegration(api, organization)).token;
      expect((await api.call("GET", userPath(id), { token: fresh })).body.portal_active).toBe(false);
    });

    it("refuses the link of a membership that was closed, until it is opened again", async () => {
      const { id, email, linkToken } = await invited();
      await api.call("DELETE", userPath(id), { token });
      expect((await activate({ token: linkToken, password })).status).toBe(404);
      await createUser(api, token, { email });
      expect((await activate({ token: linkToken, password })).status).toBe(200);
    });
  });

  it("links to the configured base URL", async () => {
    const { body: user } = await createUser(api, token, { email: freshEmail() });
    await api.call("POST", `${userPath(user.id)}invite/`, { token, headers: { host: "evil.example" } });
    expect(await linkFor(user.email)).toMatch(new RegExp(`^${baseUrl}/`));
  });
});
