import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  consolePassword,
  emailOf,
  findViolations,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { runVigil } from "../support/vigil-process.ts";

const watch = "490154203237518";

interface People {
  results: { id: string; email: string }[];
}

describe.skipIf(!browserPath)("members of an organization (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let admin: ConsolePage;
  let folder: string;

  beforeAll(async () => {
    // Without a mail server the service puts its mails there.
    folder = await mkdtemp(join(tmpdir(), "vigil-members-"));
    vi.stubEnv("VIGIL_DATA_DIR", folder);
    world = await openConsoleWorld(["ADMIN", "USER"]);
    await runVigil(["org", "set", world.slug, "--feature", "managed_onboarding"], world.env);
    await world.api("POST", "/devices/", { uid: watch, device_model_slug: "iw-h10", name: "Nonna" });
    await world.api("POST", "/auth/users/", { email: "carla@example.org", first_name: "Carla", role: "VIEWER" });
    admin = await world.openAs("ADMIN", "/console/members", { bypassCSP: true });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const go = (path: string) => admin.page.goto(`${world.http}${path}`);
  const idOf = async (email: string): Promise<string> =>
    (await world.api<People>("GET", `/auth/users/?search=${email}`)).results[0]?.id as string;

  /** The address that a mail to somebody leads to. */
  const mailedLink = (email: string): Promise<string> =>
    vi.waitFor(
      async () => {
        for (const name of await readdir(join(folder, "mail"))) {
          const mail = await PostalMime.parse(await readFile(join(folder, "mail", name)));
          const link = /http\S+token=[\w-]+/.exec(mail.text ?? "")?.[0];
          if (mail.to?.some(({ address }) => address === email) && link) return link;
        }
        throw new Error("no mail yet");
      },
      { timeout: 60_000, interval: 500 },
    );

  it("mails a member who has no password yet", async () => {
    const { page } = admin;
    const row = page.getByRole("row").filter({ hasText: "carla@example.org" });
    await row.getByRole("button", { name: "Send sign-in mail" }).click();
    await page.getByText("is on its way to carla@example.org").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it("says of a person which devices they may see, why, and what they may do", async () => {
    const { page } = admin;
    await go(`/console/members/access?person=${await idOf(emailOf("USER"))}`);
    const part = page.getByRole("region", { name: `Devices that ${emailOf("USER")} may see` });
    await part.getByText(`${emailOf("USER")} may see no device.`).waitFor();
    await part.getByLabel("Device", { exact: true }).selectOption(`Nonna (${watch})`);
    await part.getByRole("button", { name: "Assign", exact: true }).click();
    const row = part.getByRole("row").filter({ hasText: "Nonna" });
    await row.getByText("See and act").waitFor();
    await row.getByText(/Cares. Assigned by an administrator on/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("says of a device which people may see it, and ends a share", async () => {
    const { page } = admin;
    await world.api("POST", `/devices/${watch}/share/`, { email: "carla@example.org" });
    await go(`/console/members/access?device=${watch}`);
    const part = page.getByRole("region", { name: "People who may see Nonna" });
    const row = (text: string) => part.getByRole("row").filter({ hasText: text });
    await row(emailOf("ADMIN")).getByText("Because of the role: Administrator").waitFor();
    await row(emailOf("USER")).getByText("See and act").waitFor();
    await row("Carla").getByText("See only").waitFor();
    await row("Carla")
      .getByText(/Shared on/)
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    await part.getByRole("button", { name: "End: Carla" }).click();
    await row("Carla").waitFor({ state: "detached" });
  });

  it("invites somebody, who accepts by the mailed page, and ends the membership", { timeout: 180_000 }, async () => {
    const { page } = admin;
    await go("/console/members");
    const invitations = page.getByRole("region", { name: "Invitations" });
    const invite = async (email: string): Promise<void> => {
      await invitations.getByLabel("E-mail").fill(email);
      await invitations.getByLabel("Role").selectOption("Viewer");
      await invitations.getByRole("button", { name: "Invite" }).click();
      await invitations.getByText(`The invitation to ${email} is on its way.`).waitFor();
    };
    const row = (email: string) => invitations.getByRole("row").filter({ hasText: email });
    await invite("dario@example.org");
    await row("dario@example.org").getByText("Pending").waitFor();
    await row("dario@example.org").getByRole("button", { name: "Send again: dario@example.org" }).click();
    await invitations.getByText("Within an hour it is sent once. Please wait.").waitFor();
    await invite("elena@example.org");
    await row("elena@example.org").getByRole("button", { name: "Revoke" }).click();
    await row("elena@example.org").getByRole("group").getByRole("button", { name: "Revoke" }).click();
    await row("elena@example.org").getByText("Revoked").waitFor();
    expect(await findViolations(page)).toEqual([]);

    const guest = await world.open({ bypassCSP: true });
    const revoked = new URL(await mailedLink("elena@example.org"));
    await guest.page.goto(`${world.http}${revoked.pathname}${revoked.search}`);
    await guest.page.getByRole("heading", { name: "This link is not valid" }).waitFor();
    const link = new URL(await mailedLink("dario@example.org"));
    expect(link.pathname).toBe("/console/accept");
    await guest.page.goto(`${world.http}${link.pathname}${link.search}`);
    await guest.page.getByRole("heading", { name: "Accept the invitation" }).waitFor();
    expect(await findViolations(guest.page)).toEqual([]);
    await guest.page.getByLabel("First name").fill("Dario");
    await guest.page.getByLabel("New password").fill(consolePassword);
    await guest.page.getByRole("button", { name: "Accept" }).click();
    await guest.page.getByRole("heading", { name: "Invitation accepted" }).waitFor();
    await guest.page.goto(`${world.http}/console/alarms`);
    await signIn(guest.page, "dario@example.org");
    await guest.page.getByRole("heading", { name: "Alarms", level: 1 }).waitFor();

    await page.reload();
    const member = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Dario", exact: true }) });
    await row("dario@example.org").getByText("Accepted").waitFor();
    await member.getByRole("button", { name: "End membership" }).click();
    await member.getByRole("group").getByRole("button", { name: "End membership" }).click();
    await member.waitFor({ state: "detached" });
    // The session of who is no longer a member is over.
    await guest.page.reload();
    await guest.page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    expect([guest.errors, guest.outside]).toEqual([[], []]);
    await guest.close();
  });

  it("throws no error and asks nobody else on the way", () => {
    expect([admin.errors, admin.outside]).toEqual([[], []]);
  });

  it("sets a password by the mailed page, which hides its token and survives a reload", async () => {
    const { page, errors, outside, close } = await world.open({ bypassCSP: true });
    await page.goto(`${world.http}/console/reset?token=unknown`);
    await page.getByRole("heading", { name: "This link has been used or has expired" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await page.goto(`${world.http}/console/activate`);
    await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const link = new URL(await mailedLink("carla@example.org"));
    expect(link.pathname).toBe("/console/activate");
    await page.goto(`${world.http}${link.pathname}${link.search}`);
    await page.getByRole("heading", { name: "Set your password" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await page.reload();
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("carla@example.org");
    expect(new URL(page.url()).search).toBe("");
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("The password needs at least 8 characters.").waitFor();
    await page.getByLabel("New password").fill(consolePassword);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByRole("heading", { name: "Your password is set" }).waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("E-mail").fill("carla@example.org");
    await page.getByLabel("Password").fill(consolePassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("nav").waitFor({ state: "attached" });
    expect([errors, outside]).toEqual([[], []]);
    await close();
  });
});
