import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { notify } from "../../src/db/listener.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { placeChannel } from "../../src/places/place-job.ts";
import { maxPerOrganization } from "../../src/places/place-lane.ts";
import { insertPlaceJobs } from "../../src/places/place-store.ts";
import {
  answered,
  counted,
  openPlaceWorld,
  type PlaceWorld,
  replyWith,
  report,
  start,
} from "../support/place-world.ts";
import { until } from "../support/until.ts";

let world: PlaceWorld;
beforeAll(async () => {
  world = await openPlaceWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("close aborts the lookups in progress and puts them back", async () => {
  const service = await world.openService(() => undefined);
  const clock = makeManualClock(start);
  // Who waited for the answers would outlast the test.
  const limits = { connectMs: 2000, totalMs: 600_000, bytes: 1000 };
  const { worker } = await world.openWorker({ geolocateUrl: service.url, clock, limits });
  await world.queue(...Array.from({ length: 20 }, () => report()));
  await until(() => expect(service.questions).toHaveLength(maxPerOrganization));
  await worker.close();
  const left = await world.jobs();
  expect(left).toHaveLength(20);
  expect(left.every(({ due_at }) => due_at <= start)).toBe(true);
  service.behave(replyWith(200, answered));
  await world.openWorker({ geolocateUrl: service.url, clock });
  await world.untilDone();
  expect(await world.locations()).toHaveLength(20);
});

test("a notification wakes the worker", async () => {
  const service = await world.openService(replyWith(200, answered));
  await world.openWorker({ geolocateUrl: service.url, pollMs: 60_000 });
  await world.db.transaction(async (tx) => {
    await insertPlaceJobs(tx, [report()]);
    await notify(tx, placeChannel, "");
  });
  await world.untilDone();
});

test("two workers share the jobs, each is done once", async () => {
  const service = await world.openService(async (_question, response) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    response.end(JSON.stringify(answered));
  });
  const workers = [
    await world.openWorker({ geolocateUrl: service.url }),
    await world.openWorker({ geolocateUrl: service.url }),
  ];
  const queued = await world.queue(...Array.from({ length: 200 }, () => report()));
  await world.untilDone();
  expect((await world.locations()).map(({ id }) => id)).toEqual(queued.map(({ id }) => id).toSorted());
  expect(service.questions).toHaveLength(200);
  await until(() => {
    const shares = workers.map(({ metrics }) => counted(metrics, 'kind="locate",outcome="resolved"'));
    expect(shares.reduce((sum, share) => sum + share)).toBe(200);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });
});

/** A database whose transactions do not begin before they are let go, as those of a process that hangs or dies. */
function hanging(db: Database): { db: Database; release: (kind: "dies" | "goes on") => void } {
  let release: (kind: "dies" | "goes on") => void = () => undefined;
  const gate = new Promise<"dies" | "goes on">((resolve) => {
    release = resolve;
  });
  const transaction: Database["transaction"] = async (work) => {
    if ((await gate) === "dies") throw new Error("dead");
    return db.transaction(work);
  };
  return { db: { ...db, transaction }, release };
}

test.each(["dies", "goes on"] as const)(
  "a worker that is stuck before its commit and %s doubles nothing",
  async (end) => {
    const service = await world.openService(replyWith(200, answered));
    const stuck = hanging(world.db);
    const { worker } = await world.openWorker({ geolocateUrl: service.url, db: stuck.db });
    const [job] = await world.queue(report());
    await world.storeState(job!.deviceId, null);
    await until(async () => expect(await world.db.many`select from place_cache`).toHaveLength(1));
    world.closeLater(async () => stuck.release("dies"));
    const clock = makeManualClock(new Date(start.getTime() + 59_000));
    await world.openWorker({ geolocateUrl: service.url, clock });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await world.locations()).toEqual([]);
    clock.advanceMs(1000);
    await world.untilDone();
    stuck.release(end);
    await worker.close();
    expect((await world.locations()).map(({ id }) => id)).toEqual([job?.id]);
    expect(await world.jobs()).toEqual([]);
    expect(service.questions).toHaveLength(1);
  },
);

test("a repeated run after an undone finish writes the same row", async () => {
  const service = await world.openService(replyWith(200, answered));
  await world.openWorker({ geolocateUrl: service.url });
  const job = report();
  for (let run = 0; run < 2; run++) {
    await world.queue(job);
    await world.untilDone();
  }
  expect(await world.locations()).toHaveLength(1);
});
