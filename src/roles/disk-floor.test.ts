import { expect, test } from "vitest";
import { makeLogger } from "../lib/logger.ts";
import { Metrics } from "../lib/metrics.ts";
import { DiskFloor, freeBytesOf } from "./disk-floor.ts";

test("the disk floor is reached below the floor, and left when a quarter more is free", async () => {
  let free = 1000;
  const metrics = new Metrics();
  const floor = new DiskFloor({
    folder: "/",
    floorBytes: 1000,
    log: makeLogger("silent"),
    metrics,
    freeBytes: async () => free,
  });
  const reached: boolean[] = [];
  for (free of [1000, 999, 1100, 1249, 1250, 1001]) {
    await floor.check();
    reached.push(floor.isReached);
  }
  expect(reached).toEqual([false, true, true, true, false, false]);
  expect(metrics.render()).toContain("vigil_disk_free_bytes 1001\n");
  expect(metrics.render()).toContain("vigil_disk_floor_reached 0\n");
});

test("the disk floor reads the free space of a real disk", async () => {
  expect(await freeBytesOf(".")).toBeGreaterThan(0);
});
