import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  emailOf,
  findViolations,
  openConsoleWorld,
} from "../support/console-world.ts";

describe.skipIf(!browserPath)("administration in the browser (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let admin: ConsolePage;
  const consoleErrors: string[] = [];

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN", "VIEWER"]);
    admin = await world.openAs("ADMIN", "/console/organization", { bypassCSP: true });
    admin.page.on("console", (message) => {
      // The browser itself reports a refused request; the page shows it in words.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        consoleErrors.push(message.text());
      }
    });
  });
  afterAll(() => world?.close());

  const open = async (path: string, heading: string): Promise<void> => {
    await admin.page.goto(`${world.http}${path}`);
    await admin.page.getByRole("heading", { level: 1, name: heading }).waitFor();
  };

  it("tells the name and the zone of the organization", async () => {
    await open("/console/organization", "Organization");
    await admin.page.getByText("Europe/Rome").waitFor();
    expect(await findViolations(admin.page)).toEqual([]);
  });

  it("changes the role of a member, and shows the change in the audit log", async () => {
    const { page } = admin;
    await open("/console/members", "Members");
    const role = page.getByLabel(`Role of ${emailOf("VIEWER")}`);
    await Promise.all([
      page.waitForResponse((answer) => answer.request().method() === "PATCH" && answer.ok()),
      role.selectOption("User"),
    ]);
    await page.getByText("Invitations are not enabled for this organization.").waitFor();
    expect(await findViolations(page)).toEqual([]);

    await open("/console/audit?model_name=user&action=1", "Audit log");
    const row = page.getByRole("row").filter({ hasText: emailOf("VIEWER") });
    await row.locator("summary").first().click();
    await row.locator("ins").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it("makes an integration, shows its secrets once, and opens its page", async () => {
    const { page } = admin;
    await open("/console/integrations", "Integrations");
    await page.getByRole("button", { name: "New integration" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Ward board");
    await page.getByLabel("Webhook URL").fill("http://127.0.0.1:1/hook");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The webhook URL is refused").waitFor();
    await page.getByLabel("Webhook URL").fill("");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Copy these now: they are not shown again.").waitFor();
    await page.getByText("Client secret").waitFor();
    await page.getByRole("button", { name: "I have copied them" }).click();
    expect(await page.getByText("Client secret").count()).toBe(0);

    await page.getByRole("link", { name: "Ward board" }).click();
    await page.getByRole("heading", { level: 1, name: "Ward board" }).waitFor();
    await page.getByText("No attempts match.").waitFor();
    await page.getByText("Nothing was given up.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "New client secret" }).click();
    await page.getByRole("group", { name: "Replace the secret?" }).getByRole("button").last().click();
    await page.getByText("The previous secret is valid until").waitFor();
    await page.getByRole("checkbox", { name: "devices:write" }).uncheck();
    await page.getByLabel("Hosts of links").fill("app.example.org");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const limits = page.getByRole("region", { name: "Limits and secrets" });
    await limits.getByText("app.example.org").waitFor();
    await limits.getByRole("meter").first().waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("group", { name: "Disable and end its tokens?" }).getByRole("button").last().click();
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
    await page.reload();
    await page.getByRole("checkbox", { name: "devices:read" }).waitFor();
    expect(await page.getByRole("checkbox", { name: "devices:write" }).isChecked()).toBe(false);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("group", { name: "Delete for good?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Integrations" }).waitFor();
  });

  it("offers nothing of it to a viewer", async () => {
    await world.addMember("VIEWER", "other@example.org");
    const viewer = await world.open();
    await viewer.page.goto(`${world.http}/console/members`);
    await viewer.page.getByLabel("E-mail").fill("other@example.org");
    await viewer.page.getByLabel("Password").fill("correct horse battery");
    await viewer.page.getByRole("button", { name: "Sign in" }).click();
    await viewer.page.getByText("This page is for the administrators of the organization.").waitFor();
    expect(await viewer.page.getByRole("link", { name: "Integrations" }).count()).toBe(0);
    await viewer.close();
  });

  it("throws no error and asks nobody else on the way", () => {
    expect([admin.errors, admin.outside, consoleErrors]).toEqual([[], [], []]);
  });
});
