import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { type Simulation, startSimulation } from "../../src/simulator/simulation.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { makeAmr } from "../../src/simulator/voice.ts";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  emailOf,
  findViolations,
  openConsoleWorld,
} from "../support/console-world.ts";
import { iwPosition } from "../support/fleet.ts";

const member = fleetMember(7, 1, "iw", { ...rome, utcOffsetMinutes: 60 });
const uid = member.imei;
const path = `/console/devices/${uid}`;
const zone = { timezoneId: "UTC", permissions: ["microphone"] };
const minuteMs = 60_000;
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

interface List<T> {
  results: T[];
}

/** Twenty minutes at home, a walk of 1.5 km, and twenty minutes at its end; sent a day late, as after a dead spot. */
async function sendYesterday(world: ConsoleWorld): Promise<void> {
  const watch = await world.openWatch(uid);
  const startMs = Date.parse(`${yesterday}T10:00:00Z`);
  for (let minute = 0; minute <= 60; minute += 4) {
    const walked = Math.min(Math.max(minute - 20, 0), 20) / 20;
    watch.write(iwPosition(startMs + minute * minuteMs, 41.9 + walked * 0.014, 12.5));
    await watch.until("IWBP01", minute / 4 + 1);
  }
  await watch.close();
}

describe.skipIf(!browserPath)("a device and its person (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let simulation: Simulation;
  let device: VirtualDevice;
  let user: ConsolePage;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN", "USER", "VIEWER"]);
    await world.api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna" });
    for (const [role, held] of [
      ["USER", "owner"],
      ["VIEWER", "assigned"],
    ] as const) {
      const { results } = await world.api<List<{ id: string }>>("GET", `/auth/users/?search=${emailOf(role)}`);
      ids.set(role, results[0]?.id ?? "");
      await world.api("POST", `/devices/${uid}/assign/`, { user_id: results[0]?.id, role: held });
    }
    await world.api("POST", "/alert-thresholds/", { scope: "Organization", metric_key: "hr", low: null, high: 20 });
    await sendYesterday(world);
    simulation = startSimulation({
      fleet: [member],
      host: "127.0.0.1",
      port: Number(world.service.gateway.split(":").at(-1)),
      clock: makeClock(),
      intervalMs: 3000,
    });
    device = simulation.devices[0] as VirtualDevice;
    user = await world.openAs("USER", path, zone);
  });
  afterAll(async () => {
    simulation?.close();
    await world?.close();
  });

  const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  it("shows the state, the vitals out of range, and values that arrive, without a reload", async () => {
    const { page } = user;
    await page.getByRole("heading", { name: "Nonna", level: 1 }).waitFor();
    await region(page, "Status").getByText("Online").waitFor();
    const vitals = region(page, "Vitals").getByRole("listitem").filter({ hasText: "Heart rate" });
    await vitals.getByText("High").waitFor();
    await vitals.getByText("Not above 20").waitFor();
    await page.getByRole("img", { name: "Heart rate, chart" }).waitFor();
  });

  it("shows an SOS of the watch at once, and what was done about it", async () => {
    const { page } = user;
    device.raiseAlarm("sos");
    const alarm = page.getByRole("article", { name: /SOS.*Nonna/ });
    await alarm.getByRole("button", { name: "Acknowledge" }).click();
    await alarm.waitFor({ state: "detached" });
    await region(page, "Events").getByText("SOS").waitFor();
  });

  it("shows the track of a day with its stops; the slider moves the marker and the charts", async () => {
    const { page } = user;
    await page.goto(`${world.http}${path}?date=${yesterday}`);
    const stops = region(page, "Stops").getByRole("listitem");
    await vi.waitFor(async () => expect(await stops.count()).toBe(2), { timeout: 30_000 });
    await region(page, "Stops")
      .getByText(/1\.\d km travelled/)
      .waitFor();
    const slider = page.getByRole("slider", { name: "Time", exact: true });
    const moveTo = (clock: string) => slider.fill(String(Date.parse(`${yesterday}T${clock}:00Z`)));
    await moveTo("10:12");
    const place = page.locator("p.place");
    await place.getByText("41.9, 12.5", { exact: true }).waitFor();
    await moveTo("10:48");
    await place.getByText("41.914, 12.5", { exact: true }).waitFor();
    await moveTo("09:00");
    await page.getByText("No position known at this time.").waitFor();
    await stops.last().getByRole("button").click();
    await vi.waitFor(async () => expect(await slider.getAttribute("aria-valuetext")).toContain("10:4"), {
      timeout: 20_000,
    });
  });

  it("zooms with keys and with buttons", async () => {
    const { page } = user;
    const slider = page.getByRole("slider", { name: "Time", exact: true });
    const all = page.getByRole("button", { name: "Show all", exact: true });
    const hours = (count: number) =>
      vi.waitFor(async () => expect(await length()).toBe(count * 60 * minuteMs), { timeout: 20_000 });
    await page.goto(`${world.http}${path}?date=${yesterday}`);
    const length = async (): Promise<number> =>
      Number(await slider.getAttribute("max")) - Number(await slider.getAttribute("min"));
    await slider.waitFor();
    await hours(24);
    await slider.press("+");
    await hours(12);
    await slider.press("0");
    await hours(24);
    await page.getByRole("button", { name: "Week", exact: true }).click();
    await hours(7 * 24);
    await region(page, "Course of time").getByRole("button", { name: "Zoom in" }).last().click();
    await hours(3.5 * 24);
    await all.click();
    await hours(7 * 24);
    expect(new URL(page.url()).searchParams.get("range")).toBe("week");
  });

  it("shows an ECG with calipers and gives its samples away", async () => {
    const { page } = user;
    await page.goto(`${world.http}${path}`);
    await region(page, "ECG").getByText("No recordings yet.").waitFor();
    expect(device.recordEcg(6)).toBe(true);
    const ecg = region(page, "ECG");
    await ecg.getByText("25 mm/s · 10 mm/mV").waitFor();
    await ecg.getByText("800 ms between the calipers").waitFor();
    await ecg.getByRole("slider", { name: "Caliper 2" }).press("ArrowRight");
    await ecg.getByText("820 ms between the calipers").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      ecg.getByRole("link", { name: "CSV" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
    expect(lines[0]?.trim()).toBe("t_ms,I");
    expect(lines.length).toBeGreaterThan(1000);
  });

  it("writes and speaks to the watch, and plays what the watch says", { timeout: 180_000 }, async () => {
    const { page } = user;
    const messages = region(page, "Messages");
    const bubbles = messages.getByRole("listitem");
    const field = messages.getByLabel("Message");
    await messages.getByRole("button", { name: "Send text" }).click();
    await messages.getByText("Write something first.").waitFor();
    await field.fill("Time for your pills");
    await messages.getByRole("button", { name: "Send text" }).click();
    await bubbles.filter({ hasText: "Time for your pills" }).getByText("Delivered").waitFor();
    expect(device.inbox.lastText).toContain("Time for your pills");

    await field.fill("Buongiorno");
    await messages.getByLabel("Language of the voice").selectOption("it");
    await messages.getByRole("button", { name: "Speak" }).click();
    await bubbles.filter({ hasText: "Buongiorno" }).getByText("Delivered").waitFor({ timeout: 60_000 });
    expect(device.inbox.lastVoice?.length).toBeGreaterThan(100);

    device.say(makeAmr(3, 2));
    const inbound = bubbles.filter({ hasText: "Nonna" }).last();
    const audio = inbound.locator("audio");
    await audio.waitFor();
    await audio.evaluate((element) => {
      const player = element as unknown as { muted: boolean; play(): Promise<void> };
      player.muted = true;
      return player.play();
    });
    const duration = await audio.evaluate((element) => (element as unknown as { duration: number }).duration);
    expect(duration).toBeGreaterThan(1);
  });

  it("records with the microphone and sends it to the watch", { timeout: 180_000 }, async () => {
    const { page } = user;
    const messages = region(page, "Messages");
    const before = device.inbox.lastVoice;
    await messages.getByRole("button", { name: "Record" }).click();
    await messages.getByText("Recording: 2 of 30 s").waitFor();
    await messages.getByRole("button", { name: "Stop" }).click();
    await messages.getByRole("button", { name: "Send recording" }).click();
    const sent = messages.getByRole("listitem").last();
    await sent.getByText("Recording").first().waitFor();
    await sent.getByText("Delivered").waitFor({ timeout: 60_000 });
    expect(device.inbox.lastVoice).not.toBe(before);
  });

  it("sends a command with its parameters and follows it to its end", async () => {
    const admin = await world.openAs("ADMIN", path, zone);
    const { page } = admin;
    const commands = region(page, "Commands");
    await commands.getByLabel("Command").selectOption("Set report interval");
    await commands.getByRole("button", { name: "Send command" }).click();
    await commands.getByText("Please fill in this field.").waitFor();
    await commands.getByLabel("Interval in seconds").fill("90");
    await commands.getByRole("button", { name: "Send command" }).click();
    const sent = commands.getByRole("listitem").filter({ hasText: "Set report interval" });
    await sent.getByText("Done").waitFor();
    const setting = region(page, "Settings of the device").getByRole("row").filter({ hasText: "Report interval" });
    await setting.getByText("Up to date").waitFor();
    await setting.getByRole("cell", { name: "90" }).first().waitFor();
    expect([admin.errors, admin.outside]).toEqual([[], []]);
    await admin.close();
  });

  it("shows a person with the device and with who cares", async () => {
    const admin = await world.openAs("ADMIN", `/console/people/${ids.get("USER")}`, zone);
    const { page } = admin;
    await page.getByRole("heading", { name: emailOf("USER"), level: 1 }).waitFor();
    await page.getByRole("button", { name: /Nonna/ }).waitFor();
    await region(page, "Vitals").getByText("Heart rate").waitFor();
    const people = region(page, "Who cares");
    await people.getByRole("link", { name: emailOf("VIEWER") }).waitFor();
    await people.getByRole("button", { name: `End: ${emailOf("VIEWER")}` }).waitFor();
    await admin.close();
  });

  it("offers a viewer on a phone everything to see and nothing to do", async () => {
    const viewer = await world.openAs("VIEWER", path, { ...zone, viewport: { width: 390, height: 844 } });
    const { page } = viewer;
    await region(page, "Vitals").getByText("Heart rate").waitFor();
    await region(page, "Messages").getByText("Time for your pills").waitFor();
    for (const name of ["Send text", "Speak", "Record", "Send command", "Delete", "Assign"]) {
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    }
    expect(await page.locator("html").evaluate(({ scrollWidth }) => scrollWidth)).toBeLessThanOrEqual(390);
    expect([viewer.errors, viewer.outside]).toEqual([[], []]);
    await viewer.close();
  });

  it.each(["light", "dark"] as const)(
    "is accessible to everybody in %s colours",
    { timeout: 180_000 },
    async (colorScheme) => {
      const opened = await world.openAs("ADMIN", path, { ...zone, colorScheme, bypassCSP: true });
      await region(opened.page, "ECG").getByText("25 mm/s").waitFor();
      await opened.page.getByRole("img", { name: "Heart rate, chart" }).waitFor();
      await region(opened.page, "Who cares").getByText("Add a person").click();
      await opened.page.getByRole("button", { name: "Assign" }).waitFor();
      expect(await findViolations(opened.page)).toEqual([]);
      await opened.close();
    },
  );

  it("throws no error and asks nobody else on the way", () => {
    expect([user.errors, user.outside]).toEqual([[], []]);
  });
});
