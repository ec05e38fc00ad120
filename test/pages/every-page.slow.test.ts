import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import { countTexts, foreignWords, languages } from "../support/console-texts.ts";
import {
  type ConsoleWorld,
  emailOf,
  findViolations,
  type MemberRole,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { iwPosition, iwSos } from "../support/fleet.ts";
import { type Credentials, vigilJson } from "../support/vigil-process.ts";

const uid = "490154203237518";
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
type Look = readonly [viewport: typeof wide, colorScheme: "light" | "dark"];
const lightScreen: readonly Look[] = [
  [wide, "light"],
  [phone, "dark"],
];
const darkScreen: readonly Look[] = [
  [wide, "dark"],
  [phone, "light"],
];
/** OWNER and ADMIN see the same pages, and USER and VIEWER do: each pair sees them in all four ways. */
const looks: Readonly<Record<MemberRole, readonly Look[]>> = {
  OWNER: lightScreen,
  ADMIN: darkScreen,
  USER: lightScreen,
  VIEWER: darkScreen,
};

describe.skipIf(!browserPath)("every page of the console (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  /** The addresses of section 27.3 that a role can open. */
  let everybody: string[];
  let administration: string[];
  const pathsOf = (role: MemberRole): string[] =>
    role === "OWNER" || role === "ADMIN" ? [...everybody, ...administration] : everybody;

  beforeAll(async () => {
    world = await openConsoleWorld(["OWNER", "ADMIN", "USER", "VIEWER"]);
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna", timezone: "UTC" });
    let ada = "";
    for (const role of ["USER", "VIEWER"] as const) {
      const found = await world.api<{ results: { id: string }[] }>("GET", `/auth/users/?search=${emailOf(role)}`);
      ada = found.results[0]?.id ?? "";
      await world.api("POST", `/devices/${uid}/assign/`, {
        user_id: ada,
        role: role === "USER" ? "owner" : "assigned",
      });
    }
    await world.api("POST", "/geofences/", { name: "Villa", center: { lat: 41.9, lng: 12.5 }, radius: 200 });
    await world.api("POST", "/alert-thresholds/", { scope: "Organization", metric_key: "hr", high: 120 });
    const { id } = await vigilJson<Credentials>(
      ["integration", "create", "--org", world.slug, "--name", "Ward board"],
      world.env,
    );
    const watch = await world.openWatch(uid);
    watch.write(iwPosition(Date.now(), 41.9, 12.5));
    await watch.until("IWBP01");
    watch.write(iwSos(Date.now()));
    await watch.until("IWBP10");
    await watch.close();
    everybody = [
      "/console/",
      "/console/alarms",
      "/console/devices",
      `/console/devices/${uid}`,
      "/console/people",
      `/console/people/${ada}`,
      "/console/geofences",
      "/console/thresholds",
      "/console/account",
    ];
    administration = [
      "/console/members",
      "/console/integrations",
      `/console/integrations/${id}`,
      "/console/audit",
      "/console/organization",
    ];
  });
  afterAll(() => world?.close());

  /** The page has its heading, and nothing of it is still on its way. */
  async function open(page: Page, path: string): Promise<void> {
    await page.goto(`${world.http}${path}`);
    await page.locator("h1").waitFor();
    await vi.waitFor(async () => expect(await page.locator("p.state[role=status]").count()).toBe(0), {
      timeout: 30_000,
    });
  }

  it.each(["OWNER", "ADMIN", "USER", "VIEWER"] as const)(
    "is accessible to %s in light and dark, on a screen and on a phone, and asks no other host",
    { timeout: 900_000 },
    async (role) => {
      const opened = await world.open({ bypassCSP: true });
      const { page } = opened;
      const found: string[] = [];
      const check = async (path: string): Promise<void> => {
        for (const [viewport, colorScheme] of looks[role]) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          const where = `${path} ${viewport.width} ${colorScheme}`;
          found.push(...(await findViolations(page)).map((violation) => `${where}: ${violation}`));
          const width = await page.evaluate<number>("document.documentElement.scrollWidth");
          if (width > viewport.width) found.push(`${where} is ${width} wide`);
        }
        await page.setViewportSize(wide);
      };
      await open(page, "/console/sign-in");
      await check("/console/sign-in");
      await signIn(page, emailOf(role));
      for (const path of pathsOf(role)) {
        await open(page, path);
        await check(path);
      }
      expect([found, opened.outside, opened.errors]).toEqual([[], [], []]);
      await opened.close();
    },
  );

  it("has every text in every language", () => {
    const counts = countTexts();
    expect(counts[0]).toBeGreaterThan(500);
    expect(new Set(counts).size).toBe(1);
  });

  it.each(languages)("speaks %s on every page, without a word of English", { timeout: 600_000 }, async (language) => {
    const foreign = foreignWords()(language);
    const opened = await world.openAs("OWNER", "/console/account");
    const { page } = opened;
    await page.evaluate(
      async ([locale]) => {
        const headers = { "content-type": "application/json", "x-vigil-console": "1" };
        await fetch("/console/api/me/", { method: "PATCH", headers, body: JSON.stringify({ locale }) });
      },
      [language],
    );
    const found: string[] = [];
    for (const path of pathsOf("OWNER")) {
      await open(page, path);
      expect([path, await page.locator("html").getAttribute("lang")]).toEqual([path, language]);
      const shown = await page.evaluate<string[]>(`(() => {
        const texts = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
          if (!walk.currentNode.parentElement.closest("script, style, noscript")) texts.push(walk.currentNode.data.trim());
        }
        for (const element of document.querySelectorAll("[aria-label], [placeholder], [title]")) {
          for (const name of ["aria-label", "placeholder", "title"]) {
            const value = element.getAttribute(name);
            if (value) texts.push(value.trim());
          }
        }
        return texts.filter((text) => text !== "");
      })()`);
      found.push(
        ...shown.filter((text) => foreign.has(text) || /\{\w+\}/.test(text)).map((text) => `${path}: ${text}`),
      );
    }
    expect(found).toEqual([]);
    await opened.close();
  });
});
