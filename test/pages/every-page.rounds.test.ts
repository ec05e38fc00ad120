import pg from "pg";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import { countTexts, foreignWords, languages } from "../support/console-texts.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  consolePassword,
  emailOf,
  findViolations,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { iwPosition, iwSos } from "../support/fleet.ts";
import { shownTexts } from "../support/shown-texts.ts";
import { type Credentials, runVigil, vigilJson } from "../support/vigil-process.ts";

const uid = "490154203237518";
const operatorEmail = "ops@example.org";
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const readers = ["OWNER", "ADMIN", "USER", "VIEWER", "operator"] as const;
type Reader = (typeof readers)[number];
const emailFor = (reader: Reader): string => (reader === "operator" ? operatorEmail : emailOf(reader));

/** Calls without a session, and links that are used up, are refused, and the browser says so by itself. */
const isRefusal = (text: string): boolean => /status of 4(0[134]|10)/.test(text);

describe.skipIf(!browserPath)("every page of the console (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  /** Without a session. */
  const entrance = [
    "/console/sign-in",
    "/console/reset?token=x",
    "/console/activate?token=x",
    "/console/accept?token=x",
  ];
  /** Every address of section 27.3 and the views within; each reader opens all of them, also those for others. */
  let paths: string[];

  async function makeHistory(): Promise<{ userId: string; integrationId: string; eventId: string }> {
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna", timezone: "UTC" });
    let userId = "";
    for (const role of ["USER", "VIEWER"] as const) {
      const found = await world.api<{ results: { id: string }[] }>("GET", `/auth/users/?search=${emailOf(role)}`);
      userId = found.results[0]?.id ?? "";
      const kind = role === "USER" ? "owner" : "assigned";
      await world.api("POST", `/devices/${uid}/assign/`, { user_id: userId, role: kind });
    }
    await runVigil(["org", "set", world.slug, "--feature", "managed_onboarding"], world.env);
    await world.api("POST", `/devices/${uid}/share/`, { email: "guest@example.org" });
    await world.api("POST", "/geofences/", { name: "Villa", center: { lat: 41.9, lng: 12.5 }, radius: 200 });
    await world.api("POST", "/alert-thresholds/", { scope: "Organization", metric_key: "hr", high: 120 });
    const create = ["integration", "create", "--org", world.slug, "--name", "Ward board"];
    const webhook = ["--webhook-url", "https://hooks.invalid/vigil"];
    const { id: integrationId } = await vigilJson<Credentials>([...create, ...webhook], world.env);
    const watch = await world.openWatch(uid);
    watch.write(iwPosition(Date.now(), 41.9, 12.5));
    await watch.until("IWBP01");
    watch.write(iwSos(Date.now()));
    await watch.until("IWBP10");
    await watch.close();
    const sql = new pg.Client({ connectionString: world.env.DATABASE_URL });
    await sql.connect();
    const { rows } = await sql.query<{ id: string }>(
      `insert into dead_letters (integration_id, id, organization_id, attempts, last_error, parked_at)
       select integration_id, id, organization_id, 6, 'the answer was 500', now() from outbound_events
       where device_uid = $1 and integration_id = $2 order by id limit 1 returning id`,
      [uid, integrationId],
    );
    await sql.query(
      `insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
       select gen_random_uuid(), organization_id, id, 'iw', 'TypeError', 'IWAP49,61#'::bytea, now()
       from devices where uid = $1`,
      [uid],
    );
    await sql.end();
    return { userId, integrationId, eventId: rows[0]?.id ?? "" };
  }

  beforeAll(async () => {
    world = await openConsoleWorld(["OWNER", "ADMIN", "USER", "VIEWER"]);
    const { userId, integrationId, eventId } = await makeHistory();
    const operator = ["user", "create", "--operator", "--email", operatorEmail, "--password-stdin"];
    expect((await runVigil(operator, world.env, `${consolePassword}\n`)).code).toBe(0);
    const views = ["organizations", "deliveries", "devices", "database", "log"];
    paths = [
      "/console/",
      "/console/alarms",
      "/console/devices",
      `/console/devices/${uid}`,
      "/console/people",
      `/console/people/${userId}`,
      "/console/geofences",
      `/console/thresholds?device=${uid}`,
      "/console/account",
      "/console/members",
      `/console/members/access?person=${userId}`,
      "/console/integrations",
      `/console/integrations/${integrationId}`,
      `/console/integrations/${integrationId}?view=events`,
      `/console/integrations/${integrationId}?event=${eventId}`,
      "/console/audit",
      "/console/organization",
      "/console/nowhere",
      "/console/operator",
      ...views.map((view) => `/console/operator?view=${view}`),
    ];
  });
  afterAll(() => world?.close());

  /** The page has its heading, and nothing of it is still on its way. */
  async function open(page: Page, path: string): Promise<void> {
    await page.goto(`${world.http}${path}`);
    await page.locator("h1").first().waitFor();
    const waiting = page.locator("p.state[role=status]");
    await vi.waitFor(async () => expect([path, await waiting.count()]).toEqual([path, 0]), { timeout: 60_000 });
  }

  /** Opens one page after the other, and tells of those that cannot be opened what is wrong with them. */
  async function openEach(page: Page, addresses: readonly string[], check: () => Promise<string[]>): Promise<string[]> {
    const found: string[] = [];
    for (const path of addresses) {
      await open(page, path)
        .then(check)
        .then(
          (faults) => found.push(...faults.map((fault) => `${path}: ${fault}`)),
          (error: unknown) => found.push(`${path}: ${String(error)}`),
        );
    }
    return found;
  }

  function complaintsOf({ page }: ConsolePage): string[] {
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && !isRefusal(message.text())) complaints.push(`${page.url()}: ${message.text()}`);
    });
    return complaints;
  }

  it.each(readers)(
    "is accessible to %s in light and dark, on a screen and on a phone, and asks no other host",
    { timeout: 1_800_000 },
    async (reader) => {
      const opened = await world.open({ bypassCSP: true });
      const complaints = complaintsOf(opened);
      const { page } = opened;
      const check = async (): Promise<string[]> => {
        const faults: string[] = [];
        for (const viewport of [wide, phone]) {
          await page.setViewportSize(viewport);
          for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            const where = `${viewport.width} ${colorScheme}`;
            faults.push(...(await findViolations(page)).map((violation) => `${where}: ${violation}`));
          }
          const width = await page.evaluate<number>("document.documentElement.scrollWidth");
          if (width > viewport.width) faults.push(`${width} wide on ${viewport.width}`);
        }
        await page.setViewportSize(wide);
        await page.emulateMedia({ colorScheme: "light" });
        return faults;
      };
      const found = await openEach(page, reader === "VIEWER" ? entrance : entrance.slice(0, 1), check);
      await open(page, "/console/sign-in");
      await signIn(page, emailFor(reader));
      found.push(...(await openEach(page, paths, check)));
      await opened.close();
      expect([found, opened.outside, opened.errors, complaints]).toEqual([[], [], [], []]);
    },
  );

  it("has every text in every language", () => {
    const counts = countTexts();
    expect(counts[0]).toBeGreaterThan(500);
    expect(new Set(counts).size).toBe(1);
  });

  describe.each(languages)("in %s", (language) => {
    const foreign = foreignWords(language);

    /** Texts of another language, and such that lack a value. */
    async function wrongTexts(page: Page): Promise<string[]> {
      const lang = await page.locator("html").getAttribute("lang");
      const wrong = (text: string): boolean => foreign.has(text) || /\{\w+[|}]|undefined|\[object/.test(text);
      return [...(lang === language ? [] : [`is in ${lang}`]), ...(await shownTexts(page)).filter(wrong)];
    }

    it("shows a stranger no word of another language", { timeout: 300_000 }, async () => {
      const opened = await world.open({ locale: language });
      const found = await openEach(opened.page, entrance, () => wrongTexts(opened.page));
      await opened.close();
      expect([found, opened.errors]).toEqual([[], []]);
    });

    it.each(readers)("shows %s no word of another language", { timeout: 900_000 }, async (reader) => {
      const opened = await world.open();
      const { page } = opened;
      await open(page, "/console/sign-in");
      await signIn(page, emailFor(reader));
      await page.evaluate(
        async ([locale]) => {
          const headers = { "content-type": "application/json", "x-vigil-console": "1" };
          await fetch("/console/api/me/", { method: "PATCH", headers, body: JSON.stringify({ locale }) });
        },
        [language],
      );
      const found = await openEach(page, paths, () => wrongTexts(page));
      await opened.close();
      expect([found, opened.errors]).toEqual([[], []]);
    });
  });
});
