import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { codeAt, stepAt } from "../../src/oauth/totp.ts";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { signIn } from "../support/browser-session.ts";
import { makeOrganization, makePerson, password, type TestOrganization } from "../support/world.ts";

const fromBase32 = (text: string): Buffer => {
  const bits = [...text].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

describe("credentials of people", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock });
    organization = await makeOrganization(api);
  });
  afterAll(() => api.close());

  const post = (path: string, body: unknown) => api.call("POST", `/console/api/${path}`, { body });
  const newPassword = "a longer phrase than before";

  it("are changed by their owner, which ends all other sessions and tokens", async () => {
    const person = await makePerson(api, organization, "USER");
    const here = await signIn(api, person.email);
    const elsewhere = await signIn(api, person.email);
    const change = (body: unknown) => here.send("POST", "/console/api/password/", body);
    const wrong = await change({ current_password: "not mine", new_password: newPassword });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([400, ["current_password"]]);
    const short = await change({ current_password: password, new_password: "short" });
    expect([short.status, Object.keys(short.body.errors)]).toEqual([400, ["new_password"]]);
    clock.advanceMs(1000);
    expect((await change({ current_password: password, new_password: newPassword })).status).toBe(204);
    expect((await here.get("/console/api/me/")).status).toBe(200);
    expect((await elsewhere.get("/console/api/me/")).body.code).toBe("invalid_token");
    expect((await api.call("GET", "/console/api/me/", { token: person.token })).body.code).toBe("invalid_token");
    expect((await post("login/", { email: person.email, password })).status).toBe(401);
    expect((await post("login/", { email: person.email, password: newPassword })).status).toBe(200);
  });

  async function resetLink(email: string): Promise<string | undefined> {
    const mail = await api.db.maybeOne<{ params: { link: string } }>`
      select params from mails where recipient = ${email} and kind = 'password_reset' order by created_at desc limit 1`;
    return mail?.params.link;
  }

  it("are reset by a mailed link, once, within the hour", async () => {
    const person = await makePerson(api, organization, "USER");
    const browser = await signIn(api, person.email);
    expect((await post("password/forgot/", { email: ` ${person.email.toUpperCase()} ` })).status).toBe(202);
    const link = new URL((await resetLink(person.email)) as string);
    expect([link.origin, link.pathname]).toEqual([baseUrl, "/console/reset"]);
    const token = link.searchParams.get("token");
    const page = await api.call("GET", `/console/reset?token=${token}`);
    expect([page.status, page.text.includes(person.email)]).toEqual([200, true]);
    clock.advanceMs(1000);
    expect((await post("password/reset/", { token, password: "short" })).body.errors).toHaveProperty("password");
    expect((await post("password/reset/", { token, password: newPassword })).status).toBe(204);
    const again = await post("password/reset/", { token, password: newPassword });
    expect([again.status, Object.keys(again.body.errors)]).toEqual([400, ["token"]]);
    expect((await api.call("GET", `/console/reset?token=${token}`)).status).toBe(410);
    expect((await browser.get("/console/api/me/")).status).toBe(401);
    expect((await post("login/", { email: person.email, password: newPassword })).status).toBe(200);
    clock.advanceMs(61_000);
    await post("password/forgot/", { email: person.email });
    const late = new URL((await resetLink(person.email)) as string).searchParams.get("token");
    clock.advanceMs(3_600_000);
    expect((await post("password/reset/", { token: late, password })).body.errors).toHaveProperty("token");
  });

  it("get one reset mail a minute, ten an hour from one address, and nobody learns who exists", async () => {
    clock.advanceMs(3_600_000);
    const person = await makePerson(api, organization, "USER");
    const mails = async (): Promise<number> =>
      (await api.db.one<{ n: number }>`select count(*)::int as n from mails where recipient = ${person.email}`).n;
    await post("password/forgot/", { email: person.email });
    await post("password/forgot/", { email: person.email });
    expect(await mails()).toBe(1);
    const known = await post("password/forgot/", { email: "nobody@example.org" });
    expect([known.status, known.body]).toEqual([202, expect.anything()]);
    for (let n = 0; n < 9; n++) await post("password/forgot/", { email: `nobody${n}@example.org` });
    clock.advanceMs(61_000);
    expect((await post("password/forgot/", { email: person.email })).status).toBe(202);
    expect(await mails()).toBe(1);
  });

  it("count failures before the password is looked at, also of one address", async () => {
    clock.advanceMs(3_600_000);
    const emails = Array.from({ length: 45 }, (_, n) => `guess${n}@example.org`);
    const answers = await Promise.all(emails.map((email) => post("login/", { email, password })));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
    expect(answers.filter(({ body }) => body.code === "throttled")).toHaveLength(15);
    clock.advanceMs(61_000);
    const { email } = await makePerson(api, organization, "USER");
    for (let n = 0; n < 40; n++) {
      const right = await post("login/", { email, password });
      expect(right.status).toBe(200);
    }
  });

  it("ask for a second factor once it is confirmed, and take recovery codes once", async () => {
    clock.advanceMs(3_600_000);
    const { email } = await makePerson(api, organization, "ADMIN");
    const browser = await signIn(api, email);
    const send = (path: string, body: unknown) => browser.send("POST", `/console/api/second-factor/${path}`, body);
    expect((await send("", { password: "not mine" })).body.errors).toHaveProperty("password");
    const { secret, otpauth_url } = (await send("", { password })).body;
    expect(otpauth_url).toContain(secret);
    const code = (): string => codeAt(fromBase32(secret), stepAt(clock.nowMs()));
    expect((await post("login/", { email, password })).status).toBe(200);
    expect((await send("confirm/", { otp: "000000" })).body.errors).toHaveProperty("otp");
    const { recovery_codes } = (await send("confirm/", { otp: code() })).body;
    expect(recovery_codes).toHaveLength(10);
    expect((await browser.get("/console/api/second-factor/")).body).toEqual({ enabled: true, recovery_codes_left: 10 });

    const logIn = (otp?: string) => post("login/", { email, password, ...(otp === undefined ? {} : { otp }) });
    expect((await logIn()).body.code).toBe("second_factor_required");
    expect((await logIn("123")).body.code).toBe("invalid_credentials");
    expect((await logIn(code())).status, "the code that confirmed is used up").toBe(401);
    clock.advanceMs(30_000);
    const now = code();
    expect((await logIn(now)).status).toBe(200);
    expect((await logIn(now)).status).toBe(401);
    expect((await logIn(recovery_codes[0])).status).toBe(200);
    expect((await logIn(recovery_codes[0])).status).toBe(401);
    clock.advanceMs(30_000);
    expect((await send("disable/", { password, otp: code() })).status).toBe(204);
    expect((await logIn()).status).toBe(200);
  });

  it("leave a trace in the audit log without saying them", async () => {
    const { email, id } = await makePerson(api, organization, "USER");
    await post("login/", { email, password: "wrong password" });
    await signIn(api, email);
    const entries = await api.db.many<{ changes: Record<string, unknown> }>`
      select changes from audit_log where organization_id = ${organization.id} and object_pk = ${id} order by id`;
    const signIns = entries.flatMap(({ changes }) => (changes.sign_in ? [changes.sign_in] : []));
    expect(signIns).toEqual([
      [null, "succeeded"],
      [null, "failed"],
      [null, "succeeded"],
    ]);
  });
});
