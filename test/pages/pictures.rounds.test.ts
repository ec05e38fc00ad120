import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath, openBrowser } from "../support/browser.ts";
import { type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";

interface Demo {
  owner: { password: string };
  devices: string[];
}

/** Where the pictures of the documentation go; without it they are made and thrown away. */
const pictureFolder = process.env.VIGIL_PICTURES;
const staff = ["owner", "admin", "carer", "family"] as const;
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

describe.skipIf(!browserPath)("pictures of the demo (skipped where no Chromium is installed)", () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let service: RunningVigil;
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    folder = await tempFolder();
    service = await startVigil(["--data-dir", folder.path], {}, "demo");
    demo = service.document as unknown as Demo;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.kill("SIGTERM");
    await folder?.remove();
  });

  async function openAs(who: (typeof staff)[number], path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      locale: "en-GB",
      timezoneId: "Europe/Rome",
      viewport: { width: 1280, height: 800 },
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`${service.http}${path}`);
    await page.getByLabel("E-mail").fill(`${who}@demo.example`);
    await page.getByLabel("Password").fill(demo.owner.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor({ state: "attached" });
    return page;
  }

  async function take(page: Page, name: string): Promise<void> {
    const target = pictureFolder ?? folder.path;
    await mkdir(target, { recursive: true });
    // Devices and curves are drawn a moment after the map is there.
    await page.waitForTimeout(5000);
    const bytes = await page.screenshot({ path: join(target, `${name}.png`) });
    expect(bytes.length).toBeGreaterThan(10_000);
  }

  it("are made for each role that the demo has a login of", async () => {
    for (const who of staff) {
      const page = await openAs(who, "/console/account");
      await page.getByText(/Vigil demo · (Owner|Administrator|User|Viewer)/).waitFor();
      await page.context().close();
    }
  });

  it("show its alarms, its devices on the map, a device, and a phone", async () => {
    const page = await openAs("owner", "/console/alarms");
    // A click allows the sound, as that of a carer does.
    await page.getByRole("heading", { level: 1 }).click();
    await page.getByRole("article").nth(1).waitFor();
    await take(page, "console-alarms");
    await page.getByRole("link", { name: "Map", exact: true }).click();
    await page.getByText(/^\d+ devices$/).waitFor();
    await page.locator(".map canvas").waitFor();
    await page.locator(".map-wait").waitFor({ state: "detached" });
    await take(page, "console-map");
    const device = `/console/devices/${demo.devices[0]}`;
    // Status, vitals, the day and the messages in one picture, once there is a walk to show.
    await page.setViewportSize({ width: 1280, height: 1400 });
    await vi.waitFor(
      async () => {
        await page.goto(`${service.http}${device}`);
        await page.getByText(/^(0\.[2-9]|[1-9]).* km travelled/).waitFor({ timeout: 8000 });
      },
      { timeout: 400_000, interval: 5000 },
    );
    await page.getByRole("heading", { level: 1 }).click();
    await page.getByRole("img", { name: "Heart rate, chart" }).waitFor();
    await page.locator(".map-canvas canvas").waitFor();
    await page.locator(".map-wait").waitFor({ state: "detached" });
    await take(page, "console-device");
    const mobile = await openAs("carer", device, phone);
    await mobile.getByText("Heart rate").first().waitFor();
    await mobile.getByRole("heading", { level: 1 }).tap();
    await take(mobile, "console-phone");
  });
});
