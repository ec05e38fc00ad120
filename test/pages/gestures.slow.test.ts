import type { CDPSession, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { type Simulation, startSimulation } from "../../src/simulator/simulation.ts";
import { browserPath } from "../support/browser.ts";
import { type ConsoleWorld, openConsoleWorld } from "../support/console-world.ts";

const member = fleetMember(7, 1, "iw", { ...rome, utcOffsetMinutes: 60 });
const path = `/console/devices/${member.imei}`;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

describe.skipIf(!browserPath)("charts and ECG under the hand (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let simulation: Simulation;

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN"]);
    await world.api("POST", "/devices/", { uid: member.imei, device_model_slug: "iw-h10", name: "Nonna" });
    simulation = startSimulation({
      fleet: [member],
      host: "127.0.0.1",
      port: Number(world.service.gateway.split(":").at(-1)),
      clock: makeClock(),
      intervalMs: 3000,
    });
  });
  afterAll(async () => {
    simulation?.close();
    await world?.close();
  });

  const slider = (page: Page) => page.getByRole("slider", { name: "Time", exact: true });
  const lengthOf = async (page: Page): Promise<number> =>
    Number(await slider(page).getAttribute("max")) - Number(await slider(page).getAttribute("min"));
  async function boxOf(element: Locator): Promise<Box> {
    await element.scrollIntoViewIfNeeded();
    return (await element.boundingBox()) as Box;
  }

  /** Two fingers around the middle of a box move from one distance to another. */
  async function pinch(session: CDPSession, { x, y, width, height }: Box, from: number, to: number): Promise<void> {
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    const fingers = (apart: number) => [
      { x: middleX - apart / 2, y: middleY, id: 1 },
      { x: middleX + apart / 2, y: middleY, id: 2 },
    ];
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(from) });
    for (let step = 1; step <= 5; step++) {
      const touchPoints = fingers(from + ((to - from) * step) / 5);
      await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints });
    }
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  }

  it("zooms a chart with two fingers on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const opened = await world.openAs("ADMIN", path, phone);
    const { page } = opened;
    const chart = page.getByRole("img", { name: "Heart rate, chart" });
    await chart.waitFor();
    const whole = await lengthOf(page);
    const session = await page.context().newCDPSession(page);
    await pinch(session, await boxOf(chart.locator(".u-over")), 60, 240);
    await vi.waitFor(async () => expect(await lengthOf(page)).toBeLessThan(whole / 2), { timeout: 20_000 });
    expect(opened.errors).toEqual([]);
    await opened.close();
  });

  it("moves marker, charts and slider together", async () => {
    const opened = await world.openAs("ADMIN", `${path}?range=hours`);
    const { page } = opened;
    const chart = page.getByRole("img", { name: "Heart rate, chart" });
    await chart.waitFor();
    const before = await slider(page).inputValue();
    const box = await boxOf(chart.locator(".u-over"));
    await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
    await vi.waitFor(async () => expect(await slider(page).inputValue()).not.toBe(before), { timeout: 20_000 });
    await slider(page).press("End");
    await vi.waitFor(async () => expect(await slider(page).inputValue()).toBe(await slider(page).getAttribute("max")), {
      timeout: 20_000,
    });
    await opened.close();
  });

  it("drags a caliper of an ECG", async () => {
    const opened = await world.openAs("ADMIN", path);
    const { page } = opened;
    await page.getByRole("region", { name: "ECG", exact: true }).waitFor();
    expect(simulation.devices[0]?.recordEcg(6)).toBe(true);
    const caliper = page.getByRole("slider", { name: "Caliper 2" });
    await page.getByText("800 ms between the calipers").waitFor();
    const box = await boxOf(caliper);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y, { steps: 4 });
    await page.mouse.up();
    const measured = page.getByText(/ ms between the calipers/);
    const shownMs = async (): Promise<number> =>
      Number((await measured.innerText()).split(" ms")[0]?.replace(/\D/g, ""));
    await vi.waitFor(async () => expect(await shownMs()).toBeGreaterThan(850), { timeout: 20_000 });
    expect([opened.errors, opened.outside]).toEqual([[], []]);
    await opened.close();
  });
});
