import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type ConsolePage, type ConsoleWorld, findViolations, openConsoleWorld } from "../support/console-world.ts";
import { iwPosition, iwSos } from "../support/fleet.ts";
import { openReceiver, type Receiver, signatureOf } from "../support/receiver.ts";
import { vigilJson } from "../support/vigil-process.ts";

const uid = "490154203237518";
const otherUid = "490154203237526";
const authority = makeAuthority();
const until = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 60_000, interval: 200 });

describe.skipIf(!browserPath)("deliveries in the browser (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let admin: ConsolePage;
  let receiver: Receiver;
  let folder: string;
  let integration: { id: string; webhook_secret: string };
  const knownSecrets = new Set<string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "vigil-deliveries-"));
    await writeFile(join(folder, "ca.pem"), authority.ca);
    receiver = await openReceiver(authority);
    world = await openConsoleWorld(["ADMIN"], {
      VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      VIGIL_WEBHOOK_CA_FILE: join(folder, "ca.pem"),
      VIGIL_WEBHOOK_BACKOFF: "0.05,0.05,0.05,0.05",
    });
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna", timezone: "UTC" });
    const create = ["integration", "create", "--org", world.slug, "--name", "Ward board"];
    integration = await vigilJson([...create, "--webhook-url", receiver.url], world.env);
    knownSecrets.add(integration.webhook_secret);
    const permissions = ["clipboard-read", "clipboard-write"];
    admin = await world.openAs("ADMIN", "/console/integrations", { bypassCSP: true, permissions });
  });
  afterAll(async () => {
    await world?.close();
    await receiver?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (query = ""): Promise<void> => {
    await admin.page.goto(`${world.http}/console/integrations/${integration.id}${query}`);
    await admin.page.getByRole("heading", { level: 1, name: "Ward board" }).waitFor();
  };

  let fixMs = Date.now() - 3 * 3_600_000;
  /** Positions of the last hours, each of its own time. */
  async function sendFixes(count: number): Promise<void> {
    const watch = await world.openWatch(uid);
    for (let sent = 0; sent < count; sent++) {
      fixMs += 2000;
      watch.write(iwPosition(fixMs));
      await watch.until("IWBP01");
    }
    await watch.close();
  }

  async function callForHelp(): Promise<void> {
    const watch = await world.openWatch(uid);
    watch.write(iwSos(Date.now()));
    await watch.until("IWBP10");
    await watch.close();
  }

  const received = (): string[] => receiver.calls.map(({ headers }) => String(headers["x-event-type"]));
  const dead = () => admin.page.getByRole("region", { name: "Dead letters" });

  it("show a webhook that fails with its reason, send all of it again after a question, and show it delivered", async () => {
    const { page } = admin;
    receiver.answer((_, response) => {
      response.writeHead(500).end("the disk is full");
      return undefined;
    });
    await callForHelp();
    await until(() => expect(received().filter((type) => type === "alarm.sos")).toHaveLength(5));
    await open();
    await page.getByText("This webhook has accepted no event since").waitFor();
    const health = page.getByRole("region", { name: "Delivery health" });
    await health.getByRole("link", { name: "HTTP 500" }).waitFor();
    await dead().getByRole("link", { name: "alarm.sos" }).waitFor();
    await dead().getByRole("link", { name: "alarm.sos" }).click();
    await page.getByText("the disk is full").first().waitFor();
    expect(await page.getByRole("row").count()).toBe(6);
    expect(await findViolations(page)).toEqual([]);

    await open();
    receiver.answer(200);
    const before = receiver.calls.length;
    await dead().getByRole("button", { name: "Redrive" }).click();
    const question = dead().getByRole("group", { name: "Send all of them again?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    await dead().getByRole("button", { name: "Redrive" }).click();
    expect(receiver.calls.length).toBe(before);
    await question.getByRole("button", { name: "Redrive" }).click();
    await dead().getByText("All were sent.").waitFor();
    await dead().getByText("Nothing was given up.").waitFor();
    expect(received().slice(before)).toContain("alarm.sos");
    await page.getByText("This webhook has accepted no event since").waitFor({ state: "detached" });
    const attempts = page.getByRole("region", { name: "Attempts" });
    await attempts.getByRole("button", { name: "Refresh" }).click();
    await attempts.getByLabel("Device (IMEI)").fill(uid);
    await attempts.getByLabel("Status").selectOption("Delivered");
    await attempts.getByRole("link", { name: "alarm.sos" }).waitFor();
  });

  it("send a chosen dead letter again, and one event by itself", async () => {
    const { page } = admin;
    receiver.answer(410);
    await sendFixes(2);
    await open();
    await until(async () => {
      await page.reload();
      await dead().getByRole("checkbox").nth(1).waitFor({ timeout: 5000 });
    });
    const count = await dead().getByRole("checkbox").count();
    receiver.answer(200);
    await dead().getByRole("checkbox").first().check();
    await dead().getByText("Chosen: 1").waitFor();
    await dead().getByRole("button", { name: "Redrive" }).click();
    await dead().getByText("All were sent.").waitFor();
    await until(async () => expect(await dead().getByRole("checkbox").count()).toBe(count - 1));

    await dead()
      .getByRole("link", { name: /\w\.\w/ })
      .first()
      .click();
    const before = receiver.calls.length;
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Queued. The attempt appears below.").waitFor();
    await page.getByText("Delivered · 200").waitFor();
    expect(receiver.calls.length).toBe(before + 1);
  });

  it("copy the request as curl, signed now and without the secret", async () => {
    const { page } = admin;
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied, signed just now.").waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toMatch(/^curl -i -X POST 'https:\/\/127\.0\.0\.1/);
    const body = copied.slice(copied.indexOf("--data-raw '") + 12, -1);
    expect(copied).toContain(`X-Signature: ${signatureOf(integration.webhook_secret, Buffer.from(body))}`);
    expect(await page.content()).not.toContain(integration.webhook_secret);
  });

  it("send a sample of a type, and let events wait while the webhook is paused", async () => {
    const { page } = admin;
    await open();
    const test = page.getByRole("region", { name: "Test event" });
    await test.getByLabel("Type").selectOption("alarm.fall");
    await test.getByRole("button", { name: "Send test event" }).click();
    await test.getByText("Delivered with status 200").waitFor();
    expect(received().at(-1)).toBe("alarm.fall");
    await page.getByRole("button", { name: "Pause webhook" }).click();
    await page.getByText("Webhook paused").waitFor();
    const before = receiver.calls.length;
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByText("The log as the partner replays it.").waitFor();
    // Seen without a reload.
    await sendFixes(1);
    await page.getByRole("cell", { name: "Waiting" }).first().waitFor();
    expect(receiver.calls.length).toBe(before);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("button", { name: "Resume webhook" }).click();
    await until(() => expect(receiver.calls.length).toBeGreaterThan(before));
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("cell", { name: "Waiting" }).first().waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "Delivered" }).first().waitFor();
  });

  it("go on without a failure while the secret is replaced, at a receiver that knows both", async () => {
    const { page } = admin;
    let refused = 0;
    receiver.answer(({ headers, raw }) => {
      const fits = [...knownSecrets].some((secret) =>
        [headers["x-signature"], headers["x-signature-previous"]].includes(signatureOf(secret, raw)),
      );
      if (!fits) refused++;
      return fits ? 200 : 401;
    });
    await open();
    const before = receiver.calls.length;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) await sendFixes(3);
    })();
    await until(() => expect(receiver.calls.length).toBeGreaterThan(before));
    await page.getByRole("button", { name: "New webhook secret" }).click();
    await page
      .getByRole("group", { name: "Replace the secret?" })
      .getByRole("button", { name: "New webhook secret" })
      .click();
    const secret = (await page.locator("code.secret").last().textContent()) ?? "";
    expect(secret).toMatch(/^whsec_/);
    await page.getByText("Events are signed with the new and the earlier secret until").waitFor();
    const rotated = receiver.calls.length;
    await until(() => expect(receiver.calls.length).toBeGreaterThan(rotated + 3));
    knownSecrets.add(secret);
    await until(() => {
      const last = receiver.calls.at(-1);
      expect(last?.headers["x-signature"]).toBe(signatureOf(secret, last?.raw ?? Buffer.alloc(0)));
    });
    isOver = true;
    await sending;
    expect([refused, receiver.calls.length > rotated]).toEqual([0, true]);
    await page.getByRole("button", { name: "I have copied them" }).click();
  });

  it("say why a row is withheld", async () => {
    const { page } = admin;
    await open();
    await page.getByLabel("Only these devices (IMEI)").fill(otherUid);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await open("?view=events");
    await page.getByText("Withheld: device filter").first().waitFor();
    await page.getByLabel("Partner gets them").selectOption("Shown");
    await page.getByText("No events match.").waitFor();
    await page.getByLabel("Partner gets them").selectOption("All");
    await page.getByRole("link", { name: "location.update" }).first().click();
    await page.getByText("There is no request").waitFor();
  });

  it("are without violations in light and dark, on a wide and on a narrow screen", async () => {
    const { page } = admin;
    for (const [width, colorScheme] of [
      [1280, "light"],
      [390, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${world.http}/console/integrations`);
      await page.getByRole("link", { name: "Ward board" }).waitFor();
      await page.getByRole("cell", { name: /%/ }).first().waitFor();
      expect(await findViolations(page)).toEqual([]);
      for (const query of ["", "?view=events"]) {
        await open(query);
        await page.locator("table.stack, .figures").first().waitFor();
        expect(await findViolations(page)).toEqual([]);
        const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        expect(overflow).toBeLessThanOrEqual(0);
      }
    }
  });

  it("throw no error and ask nobody else on the way", () => {
    expect([admin.errors, admin.outside]).toEqual([[], []]);
  });
});
