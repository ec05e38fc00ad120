import { connect } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  consolePassword,
  findViolations,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { iwLogin, iwSos } from "../support/fleet.ts";
import { runVigil } from "../support/vigil-process.ts";
import type { WireDevice } from "../support/wire-device.ts";

const uid = "490154203237518";
const strayUid = "356938035643809";
const email = "ops@example.org";

describe.skipIf(!browserPath)("operators in the browser (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let operator: ConsolePage;
  let watch: WireDevice;
  let sql: pg.Client;

  /** A watch that is connected and has called for help, an id that nobody knows, a packet set aside and an event given up. */
  async function fill(): Promise<void> {
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna" });
    watch = await world.openWatch(uid);
    watch.write(iwSos(Date.now() - 61_000));
    await watch.until("IWBP10");
    const stray = connect(Number(world.service.gateway.split(":").at(-1)), "127.0.0.1");
    stray.write(iwLogin(strayUid));
    await new Promise((resolve) => stray.once("close", resolve));
    await sql.query(
      `insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
       select gen_random_uuid(), organization_id, id, 'iw', 'TypeError', 'IWAP49,61#'::bytea, now()
       from devices where uid = $1`,
      [uid],
    );
    await sql.query(
      `insert into mails (id, organization_id, kind, recipient, locale, status, attempts, next_attempt_at, last_error, created_at, finished_at)
       select gen_random_uuid(), id, 'invitation', 'guest@example.org', 'en', 'failed', 5, now(), '550 no such user: guest@example.org', now(), now()
       from organizations`,
    );
    await sql.query("update integrations set webhook_url = 'https://hooks.invalid/vigil'");
    await sql.query("update outbound_lanes set push_epoch = 1, push_epochs = 1");
    await sql.query(
      `insert into dead_letters (integration_id, id, organization_id, attempts, last_error, parked_at)
       select integration_id, id, organization_id, 6, 'the answer was 500', now() from outbound_events
       where device_uid = $1 order by id limit 1`,
      [uid],
    );
  }

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN"]);
    sql = new pg.Client({ connectionString: world.env.DATABASE_URL });
    await sql.connect();
    await fill();
    const made = await runVigil(
      ["user", "create", "--operator", "--email", email, "--password-stdin"],
      world.env,
      `${consolePassword}\n`,
    );
    expect(made.code, made.stderr).toBe(0);
    operator = await world.open({ bypassCSP: true });
    await operator.page.goto(`${world.http}/console/`);
    await signIn(operator.page, email);
  });
  afterAll(async () => {
    await watch?.close();
    await sql?.end();
    await world?.close();
  });

  const open = async (view: string): Promise<void> => {
    await operator.page.goto(`${world.http}/console/operator${view === "" ? "" : `?view=${view}`}`);
    await operator.page.getByRole("heading", { level: 1, name: "Operation" }).waitFor();
  };

  it("leads an operator to the service, and offers nothing of an organization", async () => {
    const { page } = operator;
    await page.getByRole("heading", { level: 1, name: "Operation" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/operator");
    expect(await page.getByRole("link", { name: "Alarms" }).count()).toBe(0);
    await page.goto(`${world.http}/console/devices`);
    await page.getByRole("heading", { level: 1, name: "Operation" }).waitFor();
  });

  it("shows the process, the connection of a real watch, and the checks of the doctor", async () => {
    const { page } = operator;
    await open("");
    const processes = page.getByRole("region", { name: "Processes" });
    await processes.getByText("api, gateway, worker").waitFor();
    await processes.getByText("1 device connection").waitFor();
    await page.getByRole("region", { name: "Gateways" }).getByText("iw/tcp 1").waitFor();
    await page.getByRole("region", { name: "Waiting work" }).getByText("Poisoned packets").waitFor();
    await page.getByRole("region", { name: "Health" }).locator("summary").click();
    await page.getByRole("region", { name: "Health" }).getByText("migrations").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  it("creates an organization, says what is wrong with it, and changes it", async () => {
    const { page } = operator;
    await open("organizations");
    await page.getByRole("button", { name: "New organization" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Home & Hearth");
    await page.getByLabel("Short name").fill("care-co");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Another organization has this slug.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Short name").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("home-and-hearth").waitFor();
    await page.getByRole("button", { name: "Edit: Home & Hearth" }).click();
    await page.getByLabel("Positions").fill("365");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" });
    const { rows } = await sql.query("select retention from organizations where slug = 'home-and-hearth'");
    expect(rows).toEqual([{ retention: { locations: 365 } }]);
  });

  it("shows an event that was given up with its reason, and redrives it", async () => {
    const { page } = operator;
    await open("deliveries");
    await page.getByRole("button", { name: "App" }).click();
    await page.getByText("the answer was 500").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Redrive" }).click();
    await page.getByRole("group").getByRole("button", { name: "Redrive" }).click();
    await page.getByText("1 event is due again.").waitFor();
    expect((await sql.query("select from dead_letters")).rowCount).toBe(0);
  });

  it("shows a mail that was given up with its reason, and hides the address", async () => {
    const { page } = operator;
    await open("deliveries");
    const jobs = page.getByRole("region", { name: "Jobs that were given up" });
    await jobs.getByText("550 no such user: ***").waitFor();
    await jobs.getByText("invitation").waitFor();
    expect(await page.getByText("guest@example.org").count()).toBe(0);
  });

  it("shows a poisoned packet with its frame, stores it, and lists ids that nobody has registered", async () => {
    const { page } = operator;
    await open("devices");
    await page.getByText("IWAP49,61#").waitFor();
    await page.getByText(strayUid).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: `Retry: ${uid}` }).click();
    await page.getByText("1 tried again: 1 stored, 0 failed.").waitFor();
    const { rows } = await sql.query("select data ->> 'hr' as hr from telemetry where data ? 'hr'");
    expect(rows).toEqual([{ hr: "61" }]);
  });

  it("shows the sizes of the database, and what operators did", async () => {
    const { page } = operator;
    await open("database");
    const row = page.getByRole("row").filter({ hasText: "outbound_events" }).first();
    await row.locator("summary").click();
    await page.getByText("outbound_events_default").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await open("log");
    for (const action of ["Signed in", "Organization created", "Dead letters sent again", "Packets tried again"]) {
      await page.getByText(action).first().waitFor();
    }
    expect(await findViolations(page)).toEqual([]);
  });

  it("is readable in the dark and on a phone, in another language", async () => {
    const phone = await world.open({
      bypassCSP: true,
      colorScheme: "dark",
      locale: "de-DE",
      viewport: { width: 390, height: 844 },
    });
    const { page } = phone;
    await page.goto(`${world.http}/console/operator`);
    await page.getByLabel("E-Mail").fill(email);
    await page.getByLabel("Passwort").fill(consolePassword);
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByRole("heading", { level: 1, name: "Betrieb" }).waitFor();
    for (const view of [
      "",
      "?view=organizations",
      "?view=deliveries",
      "?view=devices",
      "?view=database",
      "?view=log",
    ]) {
      await page.goto(`${world.http}/console/operator${view}`);
      await page.getByRole("heading", { level: 1, name: "Betrieb" }).waitFor();
      await page.locator("table, .state").first().waitFor();
      expect([view, await findViolations(page)]).toEqual([view, []]);
      expect([view, await page.locator("html").evaluate((html) => html.scrollWidth)]).toEqual([view, 390]);
    }
    await phone.close();
  });

  it("tells a member that the page is for operators, and asks for nothing", async () => {
    const admin = await world.openAs("ADMIN", "/console/operator");
    await admin.page.getByText("This page is for operators of the service.").waitFor();
    expect(admin.errors).toEqual([]);
    await admin.close();
  });

  it("lets an administrator download the audit log, and shows how the organization is set up", async () => {
    const admin = await world.openAs("ADMIN", "/console/audit", { bypassCSP: true });
    const { page } = admin;
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download as CSV" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("audit-log.csv");
    await page.goto(`${world.http}/console/organization`);
    await page.getByText("Geofences for people and groups of devices").waitFor();
    await page.getByText("Positions: for ever").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await admin.close();
  });

  it("threw no error and asked nobody else", () => {
    expect([operator.errors, operator.outside]).toEqual([[], []]);
  });
});
