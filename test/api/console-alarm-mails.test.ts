import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { maxMailsPerHour, queueAlarmMails } from "../../src/console/alarm-mails.ts";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { renderMail } from "../../src/mail/mail-templates.ts";
import { baseUrl, openTestApi, type TestApi } from "../support/api.ts";
import { signIn } from "../support/browser-session.ts";
import { assign } from "../support/devices.ts";
import { makeEvent } from "../support/events.ts";
import { closeMembership, countMails, makeDevice, readMail, type TestDevice } from "../support/fixtures.ts";
import { makeOrganization, makePerson, type TestOrganization } from "../support/world.ts";

const [info, warning, critical] = [10, 20, 30];

describe("mails about alarms", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;
  let device: TestDevice;

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock, isPrivate: true });
    organization = await makeOrganization(api);
  });
  beforeEach(async () => {
    device = await makeDevice(api, organization, "Anna’s watch");
  });
  afterAll(() => api.close());

  const queue = (): Promise<number> => queueAlarmMails(api.db, clock, () => baseUrl);

  async function holder(choice: string, role: 10 | 20 | 30 = 20) {
    const person = await makePerson(api, organization, "VIEWER");
    const browser = await signIn(api, person.email);
    expect((await browser.send("PATCH", "/console/api/me/", { alarm_mail: choice, locale: "de" })).status).toBe(200);
    await assign(api, organization.id, device.uid, person.id, role);
    return person;
  }

  it("go once to each who holds the device and asked for them, with a link to it", async () => {
    const { email } = await holder("critical", 10);
    await makeEvent(api, device);
    expect([await queue(), await queue()]).toEqual([1, 0]);
    const mail = await readMail(api, email);
    expect([mail.kind, mail.count, mail.link.href]).toEqual(["alarm", 1, `${baseUrl}/console/devices/${device.uid}`]);
    const { subject, text } = renderMail("alarm", "de", mail.params);
    expect(subject).toMatch(/^SOS – Anna’s watch – Organization/);
    expect(text).toContain("Bitte sehen Sie in der Konsole nach dem Gerät.");
  });

  it("follow the severity that the person chose", async () => {
    const people = [await holder("off"), await holder("critical"), await holder("warning")];
    for (const severity of [info, warning, critical]) await makeEvent(api, device, { type: 120, severity });
    await queue();
    expect(await Promise.all(people.map(({ email }) => countMails(api, email)))).toEqual([0, 1, 2]);
  });

  it("do not go to people without a role on the device, nor to former members and holders", async () => {
    const closed = await holder("warning");
    const former = await holder("warning");
    const admin = await makePerson(api, organization, "ADMIN");
    await api.db.run`update users set alarm_mail = 'warning' where id = ${admin.id}`;
    await closeMembership(api, organization, closed.id);
    await api.db.run`update assignments set is_active = false, unassigned_at = now() where user_id = ${former.id}`;
    await makeEvent(api, device);
    expect(await queue()).toBe(0);
  });

  it("are few: above the limit of an hour only the console reports them, and the last mail says so", async () => {
    const { email } = await holder("critical", 30);
    for (let count = 0; count < maxMailsPerHour + 5; count++) await makeEvent(api, device);
    expect(await queue()).toBe(maxMailsPerHour);
    const last = await api.db.many<{ params: Record<string, string> }>`
      select params from mails where recipient = ${email} and params ? 'is_last'`;
    expect(last).toHaveLength(1);
    clock.advanceMs(3_600_001);
    await makeEvent(api, device);
    expect(await queue()).toBe(1);
  });

  it("are sent once by workers that run at the same time", async () => {
    const { email } = await holder("critical");
    await makeEvent(api, device);
    await Promise.all([queue(), queue(), queue()]);
    await queue();
    expect(await countMails(api, email)).toBe(1);
  });
});
