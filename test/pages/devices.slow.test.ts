import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  emailOf,
  findViolations,
  openConsoleWorld,
} from "../support/console-world.ts";
import { iwLogin } from "../support/fleet.ts";
import { openWireDevice } from "../support/wire-device.ts";

const firstUid = 490_154_300_000_000;
const uidAt = (n: number): string => String(firstUid + n * 10);
const knocking = "356938035643809";

interface List {
  count: number;
  results: { uid: string; tags: string[] }[];
}

describe.skipIf(!browserPath)("devices of an administrator (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let admin: ConsolePage;

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN", "USER"]);
    admin = await world.openAs("ADMIN", "/console/devices", { bypassCSP: true, acceptDownloads: true });
  });
  afterAll(() => world?.close());

  const go = (path: string) => admin.page.goto(`${world.http}${path}`);
  const file = (lines: readonly string[]) => ({
    name: "fleet.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(["uid,device_model_slug,name,timezone,tags,terminal_id", ...lines].join("\r\n")),
  });
  const lines = Array.from(
    { length: 10_000 },
    (_, n) => `${uidAt(n)},iw-h10,Watch ${n + 1},Europe/Rome,ward ${n % 40};import,`,
  );

  it("shows three bad lines of 10,000 by line and field and writes none of them, then imports all", async () => {
    const { page } = admin;
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const [template] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download a template" }).click(),
    ]);
    expect(await readFile(await template.path(), "utf8")).toContain(
      "uid,device_model_slug,name,timezone,tags,terminal_id",
    );
    const bad = lines
      .with(17, "12,iw-h10,Short,,,")
      .with(4_000, `${uidAt(4_000)},no-such-model,Wrong model,,,`)
      .with(9_999, `${uidAt(9_999)},iw-h10,Wrong zone,Europe/Nowhere,,`);
    await page.getByLabel("CSV file").setInputFiles(file(bad));
    await page.getByText("New: 9,997. Updated: 0. Errors: 3.").waitFor({ timeout: 120_000 });
    const row = (line: number) => page.getByRole("row").filter({ hasText: `${line}` });
    await row(19).filter({ hasText: "uid" }).getByText("Expected an IMEI of 15 digits.").waitFor();
    await row(4002).filter({ hasText: "device_model_slug" }).getByText("no-such-model", { exact: true }).waitFor();
    await row(10001).filter({ hasText: "timezone" }).getByText("Europe/Nowhere", { exact: true }).waitFor();
    await page.getByText("Nothing has been written.").waitFor();
    expect(await page.getByRole("button", { name: /^Import \d/ }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    expect((await world.api<List>("GET", "/devices/?page_size=1")).count).toBe(0);

    await page.getByLabel("CSV file").setInputFiles(file(lines));
    await page.getByRole("button", { name: "Import 10,000 devices" }).click({ timeout: 120_000 });
    await page.getByText("Imported. New: 10,000. Updated: 0.").waitFor({ timeout: 240_000 });
    await page.getByText("10,000 of 10,000 devices").waitFor();
    expect((await world.api<List>("GET", "/devices/?page_size=1")).count).toBe(10_000);
  }, 600_000);

  it("takes a dropped file too, and says what it would change", async () => {
    const { page } = admin;
    await go("/console/devices");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const transfer = await page.evaluateHandle(
      (text) => {
        const { DataTransfer } = globalThis as unknown as {
          DataTransfer: new () => { items: { add(file: File): void } };
        };
        const dropped = new DataTransfer();
        dropped.items.add(new File([text], "two.csv", { type: "text/csv" }));
        return dropped;
      },
      `uid,name\n${uidAt(0)},Renamed\n${uidAt(1)},Also renamed`,
    );
    await page.locator(".drop").dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText("New: 0. Updated: 2. Errors: 0.").waitFor();
    await page.getByRole("button", { name: "Import 2 devices" }).click();
    await page.getByText("Imported. New: 0. Updated: 2.").waitFor();
  });

  it("finds, sorts and pages by the service, and exports what was found", async () => {
    const { page } = admin;
    await go("/console/devices?search=ward+39");
    await page.getByText("250 of 10,000 devices").waitFor();
    expect(await page.getByRole("row").count()).toBe(101);
    await page.getByRole("button", { name: "Show more" }).click();
    await vi.waitFor(async () => expect(await page.getByRole("row").count()).toBe(201), { timeout: 30_000 });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export as CSV" }).click(),
    ]);
    expect((await readFile(await download.path(), "utf8")).trim().split("\r\n")).toHaveLength(251);
    await page.getByLabel("State").selectOption("Online");
    await page.getByText("No device matches.").waitFor();
  });

  it("tags, assigns and deletes many with progress and a result for each", async () => {
    const { page } = admin;
    await go("/console/devices?search=ward+39");
    await page.getByText("250 of 10,000 devices").waitFor();
    await page.getByLabel("Select all shown").check();
    await page.getByText("Selected: 100").waitFor();
    await page.getByRole("button", { name: "Select all 250 that match" }).click();
    await page.getByText("Selected: 250").waitFor();
    const bar = page.getByRole("region", { name: "Change the selected devices" });
    await bar.getByLabel("Tags").fill("north wing");
    await bar.getByRole("button", { name: "Apply" }).click();
    await bar.getByText("Done: 250. Refused: 0.").waitFor({ timeout: 120_000 });
    expect((await world.api<List>("GET", "/devices/?tags=north+wing&page_size=1")).count).toBe(250);

    const { results } = await world.api<{ results: { id: string }[] }>("GET", `/auth/users/?search=${emailOf("USER")}`);
    const taken = (await world.api<List>("GET", "/devices/?tags=north+wing&ordering=name")).results[0]?.uid as string;
    await world.api("POST", `/devices/${taken}/assign/`, { user_id: results[0]?.id, role: "owner" });
    await go("/console/devices?search=north+wing");
    await page.getByText("250 of 10,000 devices").waitFor();
    await page.getByLabel("Select all shown").check();
    await bar.getByLabel("Action").selectOption("Assign to a person");
    await bar.getByLabel("Find a person").fill("user@");
    await bar.getByLabel("Person", { exact: true }).selectOption({ label: emailOf("USER") });
    await bar.getByRole("button", { name: "Apply" }).click();
    await bar.getByText("Done: 99. Refused: 1.").waitFor({ timeout: 120_000 });
    await bar
      .getByRole("row")
      .filter({ hasText: taken })
      .getByText(/Refused: User already has/)
      .waitFor();
    await page.getByText("Selected: 1").waitFor();
    expect(await findViolations(page)).toEqual([]);

    await bar.getByLabel("Action").selectOption("Delete");
    await bar.getByRole("button", { name: "Delete" }).click();
    await bar.getByRole("group", { name: "Delete 1 device?" }).getByRole("button", { name: "Delete" }).click();
    await bar.getByText("Done: 1. Refused: 0.").waitFor();
    await page.getByText("249 of 9,999 devices").waitFor();

    await page.getByRole("button", { name: "Deleted devices" }).click();
    expect(await findViolations(page)).toEqual([]);
    await page
      .getByRole("row")
      .filter({ hasText: taken })
      .getByRole("button", { name: /^Take back/ })
      .click();
    await page.getByText("is registered again.").waitFor();
    await page.getByText("250 of 10,000 devices").waitFor();
  }, 300_000);

  it("finds a device that knocked by its IMEI, and registers it with one click", async () => {
    const port = Number(world.service.gateway.split(":").at(-1));
    const stranger = await openWireDevice(port, "iw", iwLogin(knocking));
    await stranger.close();
    const { page } = admin;
    await go("/console/devices");
    await page.getByRole("button", { name: "Look up an IMEI" }).click();
    await page.getByLabel("IMEI").fill("12");
    await page.getByRole("button", { name: "Look up", exact: true }).click();
    await page.getByText("Give an IMEI of 15 digits.").waitFor();
    await page.getByLabel("IMEI").fill(knocking);
    await vi.waitFor(
      async () => {
        await page.getByRole("button", { name: "Look up", exact: true }).click();
        await page.getByRole("row").filter({ hasText: knocking }).waitFor({ timeout: 2000 });
      },
      { timeout: 60_000 },
    );
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Register", exact: true }).click();
    expect(await page.getByLabel("IMEI").inputValue()).toBe(knocking);
    expect(await page.getByLabel("Model").inputValue()).toMatch(/^iw-/);
    await page.getByLabel("Name", { exact: true }).fill("Stranger");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Stranger is registered.").waitFor();
  }, 120_000);

  it("changes what one device can do, apart from its model", async () => {
    const { page } = admin;
    await go("/console/devices?search=Stranger");
    await page.getByRole("button", { name: "Edit Stranger" }).click();
    await page.getByText("What this device can do").click();
    const power = page.getByLabel("Power off");
    await Promise.all([
      page.waitForResponse((answer) => answer.url().includes("/capabilities/") && answer.request().method() === "POST"),
      power.selectOption("No, for this device"),
    ]);
    const { capabilities } = await world.api<{ capabilities: { code: string; supported: boolean }[] }>(
      "GET",
      `/devices/${knocking}/capabilities/`,
    );
    expect(capabilities.find(({ code }) => code === "power_off")?.supported).toBe(false);
    expect(await findViolations(page)).toEqual([]);
  });

  it("is clean in the dark, too, and speaks five languages", async () => {
    await admin.page.emulateMedia({ colorScheme: "dark" });
    await go("/console/devices?search=Stranger");
    await admin.page.getByLabel("Select Stranger").check();
    expect(await findViolations(admin.page)).toEqual([]);
    await admin.page.emulateMedia({ colorScheme: "light" });
    for (const [locale, word] of [
      ["it-IT", "Importa"],
      ["de-DE", "Importieren"],
      ["fr-FR", "Importer"],
      ["es-ES", "Importar"],
    ] as const) {
      const other = await world.open({ locale, storageState: await admin.page.context().storageState() });
      await other.page.goto(`${world.http}/console/devices`);
      await other.page.getByRole("button", { name: word, exact: true }).waitFor();
      expect(other.errors).toEqual([]);
      await other.close();
    }
  }, 120_000);

  it("throws no error and asks nobody else on the way", () => {
    expect([admin.errors, admin.outside]).toEqual([[], []]);
  });
});
