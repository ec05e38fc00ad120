import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath } from "../support/browser.ts";
import { type ConsolePage, type ConsoleWorld, emailOf, openConsoleWorld } from "../support/console-world.ts";
import { iwPosition } from "../support/fleet.ts";

const nonna = "490154203237518";
const nonno = "356938035643809";

interface Fence {
  id: string;
  name: string;
  center: { lat: number; lng: number };
  radius: number;
}
interface List<T> {
  results: T[];
}

describe.skipIf(!browserPath)("devices, people, fences and thresholds (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let admin: ConsolePage;

  beforeAll(async () => {
    world = await openConsoleWorld(["ADMIN", "VIEWER"]);
    for (const [uid, name] of [
      [nonna, "Nonna"],
      [nonno, "Nonno"],
    ]) {
      await world.api("POST", "/devices/", {
        uid,
        device_model_slug: "iw-h10",
        name,
        timezone: "UTC",
        tags: ["ward 3"],
      });
    }
    const { results } = await world.api<List<{ id: string }>>("GET", `/auth/users/?search=${emailOf("VIEWER")}`);
    await world.api("POST", `/devices/${nonna}/assign/`, { user_id: results[0]?.id, role: "assigned" });
    admin = await world.openAs("ADMIN", "/console/devices");
  });
  afterAll(() => world?.close());

  const go = (path: string) => admin.page.goto(`${world.http}${path}`);

  it("registers, finds, changes and deletes a device", async () => {
    const { page } = admin;
    await go("/console/devices");
    await page.getByRole("button", { name: "Register a device" }).click();
    await page.getByLabel("IMEI").fill("12");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Expected an IMEI of 15 digits.").waitFor();
    await page.getByLabel("IMEI").fill("353356610000019");
    await page.getByLabel("Model").selectOption({ value: "iw-h10" });
    await page.getByLabel("Name", { exact: true }).fill("Zia");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByLabel("Tags").fill("ward 4, night");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Zia is registered.").waitFor();
    expect(await world.api("GET", "/devices/353356610000019/")).toMatchObject({
      name: "Zia",
      timezone: "Europe/Berlin",
      tags: ["ward 4", "night"],
    });

    await page.getByLabel("Search").fill("ward 3");
    await page.getByText("2 of 3 devices").waitFor();
    expect(new URL(page.url()).searchParams.get("search")).toBe("ward 3");
    await page.reload();
    await page.getByText("2 of 3 devices").waitFor();
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Last seen").selectOption("Never");
    await page.getByText("3 of 3 devices").waitFor();

    await page.getByRole("button", { name: "Edit Zia" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Zia Rosa");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "Zia Rosa" }).waitFor();
    await page.getByRole("button", { name: "Edit Zia Rosa" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("group", { name: "Delete for good?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("2 of 2 devices").waitFor();
    await expect(world.api("GET", "/devices/353356610000019/")).rejects.toThrow("404");
  });

  it("shows people with their devices", async () => {
    const { page } = admin;
    await go("/console/people");
    const row = page.getByRole("row").filter({ hasText: emailOf("VIEWER") });
    await row.getByRole("link", { name: "Nonna" }).waitFor();
    await page.getByLabel("Show").selectOption("Without devices");
    await page.getByText("People: 1").waitFor();
    await page.getByRole("link", { name: emailOf("ADMIN") }).waitFor();
  });

  it("draws a fence on the map, drags it, and reports who crosses it", async () => {
    const { page } = admin;
    await go("/console/geofences");
    await page.getByRole("button", { name: "New geofence" }).click();
    const map = page.getByRole("region", { name: "Map" });
    await map.locator("canvas").waitFor();
    const box = (await map.boundingBox()) as { x: number; y: number; width: number; height: number };
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const latitude = page.getByLabel("Latitude");
    const radius = page.getByLabel("Radius in metres");
    const drag = async (from: [number, number], to: [number, number]): Promise<void> => {
      await page.mouse.move(...from);
      await page.mouse.down();
      await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
      await page.mouse.move(...to);
      await page.mouse.up();
    };
    // The map takes the pen once its layers are there.
    await vi.waitFor(
      async () => {
        await drag([x, y], [x + 60, y]);
        expect(await latitude.inputValue()).not.toBe("");
      },
      { timeout: 30_000, interval: 500 },
    );
    const drawn = Number(await latitude.inputValue());
    expect(Number(await radius.inputValue())).toBeGreaterThan(1000);
    await drag([x, y], [x, y - 80]);
    expect(Number(await latitude.inputValue())).toBeGreaterThan(drawn);

    await radius.fill("300");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Home");
    await page.getByRole("checkbox", { name: "Nonna" }).check();
    await page.getByLabel("When").selectOption("At certain times");
    for (const day of ["Sat", "Sun"]) await page.getByRole("checkbox", { name: day }).check();
    await page.getByLabel("From").fill("00:00");
    await page.getByLabel("Until").fill("00:00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Home", exact: true }).waitFor();
    const [fence] = (await world.api<List<Fence>>("GET", "/geofences/")).results as [Fence];
    expect(await world.api("GET", `/geofences/${fence.id}/`)).toMatchObject({
      name: "Home",
      radius: 300,
      scope: "device",
      schedule: { timezone: "Europe/Rome", windows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: "00:00", end: "24:00" }] },
      devices: [{ uid: nonna }],
    });

    const watch = await world.openWatch(nonna);
    const nowMs = Date.now();
    const { lat, lng } = fence.center;
    watch.write(iwPosition(nowMs - 300_000, lat, lng));
    await watch.until("IWBP01");
    watch.write(iwPosition(nowMs, lat + 0.02, lng));
    await watch.until("IWBP01", 2);
    await watch.close();
    await go("/console/alarms");
    await vi.waitFor(
      async () => {
        await page.reload();
        await page.getByText("Zone left").first().waitFor({ timeout: 3000 });
      },
      { timeout: 60_000 },
    );
  });

  it("changes and deletes a fence", async () => {
    const { page } = admin;
    await go("/console/geofences");
    await page.getByRole("button", { name: "Edit Home" }).click();
    await page.getByLabel("Radius in metres").fill("450");
    await page.getByRole("checkbox", { name: "Nonna" }).uncheck();
    await page.getByRole("checkbox", { name: "Nonno" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("450 m · Devices: 1").waitFor();
    const [fence] = (await world.api<List<Fence>>("GET", "/geofences/")).results as [Fence];
    expect(await world.api("GET", `/geofences/${fence.id}/`)).toMatchObject({ radius: 450, devices: [{ uid: nonno }] });

    await page.getByRole("button", { name: "Edit Home" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No geofences yet.").waitFor();
    expect((await world.api<List<Fence>>("GET", "/geofences/")).results).toEqual([]);
  });

  it("says in words which threshold counts for a device", async () => {
    const { page } = admin;
    await go("/console/thresholds");
    await page.getByRole("button", { name: "New threshold" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Give at least one of the two values.").waitFor();
    await page.getByLabel("Alarm below").fill("50");
    await page.getByLabel("Alarm above").fill("120");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "below 50 bpm or above 120 bpm" }).waitFor();

    await page.getByRole("button", { name: "New threshold" }).click();
    await page.getByLabel("Alarm above").fill("100");
    await page.getByLabel("Severity").selectOption("Critical");
    await page.getByLabel("Applies to").selectOption("The devices of a person");
    await page.getByRole("radio", { name: emailOf("VIEWER") }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("row")
      .filter({ hasText: emailOf("VIEWER") })
      .waitFor();

    const resulting = page.getByRole("region", { name: "What counts for a device" });
    await resulting.getByLabel("Device", { exact: true }).selectOption(nonna);
    await resulting.getByText("Alarm above 100 bpm: from the organization, replaced by the user's.").waitFor();
    await resulting.getByLabel("Device", { exact: true }).selectOption(nonno);
    await resulting.getByText("Alarm below 50 bpm or above 120 bpm: from the organization.").waitFor();

    await page.getByRole("button", { name: `Edit Heart rate: ${emailOf("VIEWER")}` }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("row")
      .filter({ hasText: emailOf("VIEWER") })
      .waitFor({ state: "detached" });
  });

  it("offers a viewer nothing that a viewer may not do", async () => {
    const viewer = await world.openAs("VIEWER", "/console/devices");
    const { page } = viewer;
    await page.getByText("1 of 1 device").waitFor();
    expect(await page.getByRole("button", { name: /Register|Edit/ }).count()).toBe(0);
    await page.goto(`${world.http}/console/geofences`);
    await page.getByText("No geofences yet.").waitFor();
    expect(await page.getByRole("button", { name: "New geofence" }).count()).toBe(0);
    await page.goto(`${world.http}/console/thresholds`);
    await page.getByRole("row").filter({ hasText: "Heart rate" }).waitFor();
    expect(await page.getByRole("button", { name: /New threshold|Edit/ }).count()).toBe(0);
    await page.goto(`${world.http}/console/people`);
    await page.getByRole("link", { name: "Nonna" }).waitFor();
    expect([viewer.errors, viewer.outside]).toEqual([[], []]);
    await viewer.close();
  });

  it("throws no error and asks nobody else on the way", () => {
    expect([admin.errors, admin.outside]).toEqual([[], []]);
  });
});
