import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import { type ConsoleWorld, emailOf, openConsoleWorld } from "../support/console-world.ts";
import { iwSos } from "../support/fleet.ts";

const uid = "490154203237518";

describe.skipIf(!browserPath)("alarms that cannot be missed (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;

  beforeAll(async () => {
    world = await openConsoleWorld(["OWNER", "USER"]);
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna", timezone: "UTC" });
    const found = await world.api<{ results: { id: string }[] }>("GET", `/auth/users/?search=${emailOf("USER")}`);
    await world.api("POST", `/devices/${uid}/assign/`, { user_id: found.results[0]?.id, role: "owner" });
    const center = { lat: 41.902782, lng: 12.496367 };
    await world.api("POST", "/geofences/", { name: "Villa", center, radius: 200 });
  });
  afterAll(() => world?.close());

  /** A call for help as a watch sends it; a minute apart on its own clock, so that each is an alarm of its own. */
  let minutesAgo = 10;
  async function callForHelp(): Promise<void> {
    const watch = await world.openWatch(uid);
    watch.write(iwSos(Date.now() - minutesAgo-- * 61_000));
    await watch.until("IWBP10");
    await watch.close();
  }
  const live = (page: Page) => page.getByRole("status").filter({ hasText: "Live" }).waitFor({ timeout: 60_000 });
  const alarm = (page: Page) => page.getByRole("article", { name: "SOS: Nonna" });

  it("tells who calls and where, flashes the title, and can be tried", async () => {
    const { page, errors, close } = await world.openAs("OWNER", "/console/alarms");
    await live(page);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("This is how an alarm sounds.").waitFor();
    await callForHelp();
    await alarm(page).getByText("In Villa").waitFor();
    await alarm(page).getByText(emailOf("USER")).waitFor();
    await alarm(page).getByText("Battery").waitFor();
    await vi.waitFor(async () => expect(await page.title()).toBe("(1) SOS: Nonna"), { timeout: 10_000, interval: 200 });
    await vi.waitFor(async () => expect(await page.title()).toBe("(1) Alarms · Vigil"), {
      timeout: 10_000,
      interval: 200,
    });
    expect(errors).toEqual([]);
    await close();
  });

  it("shows everybody at once who took it and what was done, and keeps it in the history", async () => {
    const first = await world.openAs("USER", "/console/alarms");
    const second = await world.openAs("OWNER", "/console/alarms");
    for (const { page } of [first, second]) await live(page);
    await alarm(first.page).getByLabel("Note").fill("Called her, all is well");
    await alarm(first.page).getByRole("button", { name: "Acknowledge" }).click();
    const { page } = second;
    await alarm(page).waitFor({ state: "detached" });
    const done = page.getByRole("region", { name: "Just acknowledged" });
    await done.getByText(`acknowledged by ${emailOf("USER")}`).waitFor();
    await done.getByText("Called her, all is well").waitFor();
    const row = page.getByRole("row").filter({ hasText: "SOS" });
    await row.getByText("Called her, all is well").waitFor();
    await row.getByText(emailOf("USER")).waitFor();

    await page.getByLabel("State").selectOption("Open");
    await row.waitFor({ state: "detached" });
    await page.getByLabel("State").selectOption("Acknowledged");
    await page.getByLabel("Device").fill(emailOf("USER").slice(0, 6));
    await row.waitFor();
    await page.getByLabel("Device").fill("nobody");
    await row.waitFor({ state: "detached" });
    await first.close();
    await second.close();
  });

  it("misses nothing of a night in which the laptop slept", async () => {
    const { page, close } = await world.open();
    await page.clock.install();
    await page.goto(`${world.http}/console/alarms`);
    await page.getByLabel("E-mail").fill(emailOf("OWNER"));
    await page.getByLabel("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Sign in" }).click();
    await live(page);
    await page.context().setOffline(true);
    await callForHelp();
    await page.clock.fastForward("08:00:00");
    await page.getByText("What you see may be out of date.").waitFor();
    await page.getByRole("status").filter({ hasText: "Connection lost" }).waitFor();
    await page.context().setOffline(false);
    await live(page);
    await alarm(page).waitFor();
    await page.getByText("What you see may be out of date.").waitFor({ state: "detached" });
    await close();
  });

  it("finds a device on the map by the person who holds it", async () => {
    const { page, close } = await world.openAs("OWNER", "/console/");
    const list = page.getByRole("region", { name: "Devices" });
    await list.getByRole("link", { name: "Nonna" }).waitFor();
    await page.getByLabel("Find a device").fill(emailOf("USER"));
    await page.getByText("1 device", { exact: true }).waitFor();
    await page.getByLabel("Find a device").fill("somebody else");
    await page.getByText("0 devices").waitFor();
    await close();
  });
});
