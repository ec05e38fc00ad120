import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import {
  type ConsoleWorld,
  consolePassword,
  emailOf,
  findViolations,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { iwSos } from "../support/fleet.ts";

const uid = "490154203237518";
const pages = [
  ["/console/", "Map"],
  ["/console/alarms", "Alarms"],
  ["/console/devices", "Devices"],
  ["/console/people", "People"],
  ["/console/geofences", "Geofences"],
  ["/console/thresholds", "Thresholds"],
  ["/console/account", "Account"],
] as const;

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 });

describe.skipIf(!browserPath)("the frame of the console (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;

  beforeAll(async () => {
    world = await openConsoleWorld(["OWNER", "USER"]);
    const device = { uid, device_model_slug: "iw-h10", name: "Nonna", timezone: "UTC" };
    await world.api("POST", "/devices/", device);
    await world.api("POST", "/geofences/", { name: "Home", center: { lat: 41.9, lng: 12.5 }, radius: 200 });
    await world.api("POST", "/alert-thresholds/", { scope: "Organization", metric_key: "hr", high: 120 });
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

  it("leads to sign-in and back, and says when the password is wrong", async () => {
    const { page, close } = await world.open();
    await page.goto(`${world.http}/console/thresholds?metric=hr`);
    await heading(page, "Sign in").waitFor();
    await page.getByLabel("E-mail").fill(emailOf("OWNER"));
    await page.getByLabel("Password").fill("not my password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The e-mail or the password is wrong.").waitFor();
    await signIn(page, emailOf("OWNER"), consolePassword);
    await heading(page, "Thresholds").waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/console/thresholds?metric=hr");

    await page.getByRole("button", { name: "Sign out" }).click();
    await heading(page, "Sign in").waitFor();
    await page.goto(`${world.http}/console/devices`);
    await heading(page, "Sign in").waitFor();
    await close();
  });

  it("opens on the map, with a list that needs no map", async () => {
    const { page, close } = await world.open();
    await page.goto(world.http);
    await signIn(page, emailOf("OWNER"));
    await heading(page, "Map").waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/");
    await page.getByRole("region", { name: "Map" }).waitFor();
    const list = page.getByRole("region", { name: "Devices" });
    await list.getByRole("link", { name: "Nonna" }).waitFor();
    await page.getByLabel("Find a device").fill("nobody");
    await list.getByRole("link", { name: "Nonna" }).waitFor({ state: "detached" });
    await close();
  });

  it("shows a call for help without a reload, and to all others that it was acknowledged", async () => {
    const first = await world.openAs("OWNER", "/console/alarms");
    const second = await world.openAs("OWNER", "/console/");
    for (const { page } of [first, second]) await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    await callForHelp();
    for (const { page } of [first, second]) {
      await page.getByRole("article", { name: "SOS: Nonna" }).waitFor();
      await vi.waitFor(async () => expect(await page.title()).toMatch(/^\(1\) /), { timeout: 10_000 });
    }
    const alarm = first.page.getByRole("article", { name: "SOS: Nonna" });
    await alarm.getByLabel("Note").fill("Called her, all is well");
    await alarm.getByRole("button", { name: "Acknowledge" }).click();
    for (const { page } of [first, second]) {
      await page.getByRole("article", { name: "SOS: Nonna" }).waitFor({ state: "detached" });
      await vi.waitFor(async () => expect(await page.title()).not.toMatch(/^\(/), { timeout: 10_000 });
    }
    expect([first.errors, second.errors]).toEqual([[], []]);
    await first.close();
    await second.close();
  });

  it("says that the connection is lost, and misses nothing of that time", async () => {
    const { page, close } = await world.openAs("OWNER", "/console/alarms");
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole("status").filter({ hasText: "Connection lost" }).waitFor({ timeout: 60_000 });
    await callForHelp();
    await page.context().setOffline(false);
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor({ timeout: 60_000 });
    await page.getByRole("article", { name: "SOS: Nonna" }).waitFor();
    await close();
  });

  it("speaks the language that the person has chosen, else that of the browser", async () => {
    const { page, close } = await world.openAs("OWNER", "/console/account");
    const languages = [
      ["it", "Italiano", "Salva", "Lingua"],
      ["de", "Deutsch", "Speichern", "Sprache"],
      ["fr", "Français", "Enregistrer", "Langue"],
      ["es", "Español", "Guardar", "Idioma"],
      ["en", "English", "Save", "Language"],
    ] as const;
    let [save, label]: [string, string] = ["Save", "Language"];
    for (const [lang, name, nextSave, nextLabel] of languages) {
      await page.getByLabel(label).selectOption(name);
      await page.getByRole("button", { name: save }).click();
      await page.getByRole("button", { name: nextSave }).waitFor();
      expect(await page.locator("html").getAttribute("lang")).toBe(lang);
      [save, label] = [nextSave, nextLabel];
    }
    await close();
    const french = await world.open({ locale: "fr-CH" });
    await french.page.goto(`${world.http}/console/`);
    await heading(french.page, "Se connecter").waitFor();
    expect(await french.page.locator("html").getAttribute("lang")).toBe("fr");
    await french.close();
  });

  it("fits a phone: nothing is wider than the screen, and the menu opens", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page, close } = await world.openAs("USER", "/console/", phone);
    for (const [path, name] of pages) {
      await page.goto(`${world.http}${path}`);
      await heading(page, name).waitFor();
      await page.getByText("Loading…").first().waitFor({ state: "detached" });
      expect([path, await page.evaluate<number>("document.documentElement.scrollWidth")]).toEqual([path, 390]);
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Devices" }).click();
    await heading(page, "Devices").waitFor();
    await close();
  });

  it("allows no script but its own files, and is shown in no frame", async () => {
    for (const [path] of [...pages, ["/console/sign-in"]]) {
      const answer = await fetch(`${world.http}${path}`);
      const policy = answer.headers.get("content-security-policy") ?? "";
      const scripts = policy.split("; ").find((one) => one.startsWith("script-src "));
      expect(scripts).toBe("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("connect-src 'self';");
      expect(answer.headers.get("cache-control")).toContain("no-store");
      await answer.text();
    }
  });

  it("loads at most 60 kB of script before the map", async () => {
    const { page, close } = await world.open();
    let bytes = 0;
    let count = 0;
    const sizes: Promise<void>[] = [];
    page.on("response", (response) => {
      const name = new URL(response.url()).pathname;
      if (!/\.m?js$/.test(name) || /map-base|maplibre/.test(name)) return;
      count++;
      sizes.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => {
            bytes += responseBodySize;
          }),
      );
    });
    await page.goto(`${world.http}/console/`);
    await signIn(page, emailOf("OWNER"));
    await page.getByRole("region", { name: "Devices" }).getByRole("link", { name: "Nonna" }).waitFor();
    await Promise.all(sizes);
    expect(count).toBeGreaterThan(3);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(60_000);
    await close();
  });

  it("asks no other host, and its cookie is out of reach of scripts", async () => {
    const { page, outside, errors, close } = await world.openAs("OWNER", "/console/");
    for (const [path, name] of pages) {
      await page.goto(`${world.http}${path}`);
      await heading(page, name).waitFor();
    }
    expect(await page.evaluate<string>("document.cookie")).toBe("");
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "vigil_session", httpOnly: true, sameSite: "Strict", path: "/" });
    expect([outside, errors]).toEqual([[], []]);
    await close();
  });

  describe.each(["light", "dark"] as const)("in %s colours", (colorScheme) => {
    it("has no fault of accessibility that axe-core finds, on any page", async () => {
      const { page, close } = await world.open({ colorScheme, bypassCSP: true });
      await page.goto(`${world.http}/console/sign-in`);
      await heading(page, "Sign in").waitFor();
      expect(["/console/sign-in", await findViolations(page)]).toEqual(["/console/sign-in", []]);
      await page.goto(`${world.http}/console/alarms`);
      await signIn(page, emailOf("OWNER"));
      for (const [path, name] of pages) {
        await page.goto(`${world.http}${path}`);
        await heading(page, name).waitFor();
        await page.getByText("Loading…").first().waitFor({ state: "detached" });
        expect([path, await findViolations(page)]).toEqual([path, []]);
      }
      for (const [path, button] of [
        ["/console/geofences", "New geofence"],
        ["/console/thresholds", "New threshold"],
        ["/console/devices", "Register a device"],
      ] as const) {
        await page.goto(`${world.http}${path}`);
        await page.getByRole("button", { name: button }).click();
        await page.getByRole("button", { name: "Save" }).waitFor();
        expect([button, await findViolations(page)]).toEqual([button, []]);
      }
      await close();
    });
  });
});
