import { afterAll, beforeAll, expect, it } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { maxMailsPerRecipient } from "../../src/mail/mail-outbox.ts";
import { updateOrganization } from "../../src/resources/organizations/organization-store.ts";
import { cliActor } from "../support/api.ts";
import { countMails, makeDevice, makeMember } from "../support/fixtures.ts";
import { fetchToken, makeIntegration, openPartnerApi, type PartnerApi } from "../support/world.ts";

const clock = makeManualClock(new Date("2026-03-01T08:15:30.123Z"));
let partner: PartnerApi;
beforeAll(async () => {
  partner = await openPartnerApi({ clock });
});
afterAll(() => partner.api.close());

const share = (uid: string, email: string, token = partner.token) =>
  partner.api.call("POST", `/api/v1/devices/${uid}/share/`, { token, body: { email } });

const setDomains = (shareDomains: readonly string[]) => {
  const { api, organization } = partner;
  const actor = cliActor(organization.id);
  return api.db.transaction((tx) => updateOrganization(tx, organization.id, { shareDomains }, actor, clock.now()));
};

it("a partner shares only with the mail domains that the organization allows", async () => {
  const { api, organization } = partner;
  const { uid } = await makeDevice(api, organization);
  await setDomains(["care.example", "home.example"]);
  expect((await share(uid, "ada@care.example")).status).toBe(202);
  expect((await share(uid, "ada@HOME.example")).status).toBe(202);
  const member = await makeMember(api, organization);
  const elsewhere = ["ada@evil.example", "ada@sub.care.example", "ada@notcare.example", member.email];
  for (const email of elsewhere) {
    const refused = await share(uid, email);
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      { email: ["Your organization does not share with addresses of this domain."] },
    ]);
  }
  await setDomains([]);
  expect((await share(uid, "ada@evil.example")).status).toBe(202);
});

it("a partner mails one person on behalf of one integration so many times a day", async () => {
  const { api, organization } = partner;
  const email = "bob@example.org";
  for (let sent = 0; sent < maxMailsPerRecipient; sent++) {
    expect((await share((await makeDevice(api, organization)).uid, email)).status).toBe(202);
  }
  const { uid } = await makeDevice(api, organization);
  const refused = await share(uid, email);
  expect([refused.status, refused.body.code]).toEqual([429, "invite_rate_limited"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(80_000);
  expect(await countMails(api, email)).toBe(maxMailsPerRecipient);
  // Others are not at fault: another person, another integration, the next day.
  expect((await share(uid, "carl@example.org")).status).toBe(202);
  const other = await makeIntegration(api, organization);
  expect((await share((await makeDevice(api, organization)).uid, email, other.token)).status).toBe(202);
  clock.advanceMs(86_400_000);
  const token = await fetchToken(api, partner.integration);
  expect((await share(uid, email, token)).status).toBe(202);
});
