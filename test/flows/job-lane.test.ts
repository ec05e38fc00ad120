import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Claim, claimJobs } from "../../src/db/job-table.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import type { LocateJob } from "../../src/places/place-job.ts";
import { maxPerOrganization } from "../../src/places/place-lane.ts";
import { type Claimed, placeJobs, postponePlaceJob } from "../../src/places/place-store.ts";
import { openPlaceWorld, type PlaceWorld, replyWith, report, start } from "../support/place-world.ts";
import { explaining, rowsRead } from "../support/query-plans.ts";
import { until } from "../support/until.ts";

const [first, second, third] = [newUuid(), newUuid(), newUuid()].toSorted() as [string, string, string];
const jobs = placeJobs("locate");

let world: PlaceWorld;
beforeAll(async () => {
  world = await openPlaceWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const queueFor = (organizationId: string, count: number): Promise<LocateJob[]> =>
  world.queue(...Array.from({ length: count }, () => report({ organizationId })));

function claim(changes: Partial<Claim> = {}, db = world.db as Parameters<typeof claimJobs>[0]) {
  const defaults = {
    now: start,
    leaseMs: 60_000,
    limit: 4,
    maxPerOrganization: 4,
    held: new Map(),
    lastServed: undefined,
  };
  return claimJobs<Claimed<LocateJob>>(db, jobs, { ...defaults, ...changes });
}

const countsOf = (claimed: readonly { organization_id: string }[]): number[] =>
  [first, second, third].map((id) => claimed.filter((job) => job.organization_id === id).length);

describe("a claim", () => {
  it("gives every organization its turn before any gets a second", async () => {
    await queueFor(first, 10);
    await queueFor(second, 1);
    await queueFor(third, 10);
    expect(countsOf(await claim())).toEqual([2, 1, 1]);
  });

  it("goes on after the organization that was served last", async () => {
    for (const id of [first, second, third]) await queueFor(id, 3);
    expect(countsOf(await claim({ limit: 1, lastServed: first }))).toEqual([0, 1, 0]);
    expect(countsOf(await claim({ limit: 1, lastServed: third }))).toEqual([1, 0, 0]);
    expect(countsOf(await claim({ limit: 2, lastServed: second }))).toEqual([1, 0, 1]);
  });

  it("counts what the caller holds of an organization", async () => {
    await queueFor(first, 10);
    await queueFor(second, 10);
    expect(countsOf(await claim({ held: new Map([[first, 3]]) }))).toEqual([1, 3, 0]);
    expect(countsOf(await claim({ held: new Map([[first, 4]]) }))).toEqual([0, 4, 0]);
  });

  it("takes no job that another claim is taking, and none before its lease is over", async () => {
    await queueFor(first, 12);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim({ limit: 2, maxPerOrganization: 12 })));
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await claim({ limit: 12, maxPerOrganization: 12 });
    expect(ids.length + rest.length).toBe(12);
    expect(await claim({ now: new Date(start.getTime() + 59_999) })).toEqual([]);
    const again = await claim({ now: new Date(start.getTime() + 60_000), limit: 1 });
    expect(again).toMatchObject([{ attempts: 2 }]);
  });

  it("lets only its last owner put a job back", async () => {
    await queueFor(first, 1);
    const [before] = await claim();
    const [now] = await claim({ now: new Date(start.getTime() + 60_000) });
    expect(await postponePlaceJob(world.db, before!, start)).toBe(0);
    expect(await postponePlaceJob(world.db, now!, start)).toBe(1);
  });

  it("reads a few rows, however long the backlog of one organization is", async () => {
    await queueFor(first, 5000);
    await queueFor(second, 1);
    await world.db.run`analyze place_jobs`;
    let read = 0;
    await claim(
      {},
      explaining(world.db, (plan) => {
        read = rowsRead(plan);
      }),
    );
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(100);
  });
});

describe("a lane", () => {
  it("serves another organization at once while a backlog of one waits for its answers", async () => {
    const slow = await world.openService(() => undefined);
    const limits = { connectMs: 2000, totalMs: 600_000, bytes: 1000 };
    await world.openWorker({ geolocateUrl: slow.url, clock: makeClock(), limits });
    await queueFor(first, 50);
    await until(() => expect(slow.questions).toHaveLength(maxPerOrganization));
    slow.behave(replyWith(404, {}));
    await queueFor(second, 1);
    await until(() => expect(slow.questions.length).toBeGreaterThan(maxPerOrganization));
    await until(async () => {
      const waiting = await world.db.many`select 1 from place_jobs where organization_id = ${second}`;
      expect(waiting).toEqual([]);
    });
    const done = await world.db.many`select 1 from place_jobs where organization_id = ${first}`;
    expect(done).toHaveLength(50);
  });
});
