import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tell } from "../../test/support/outbound.ts";
import { until } from "../../test/support/until.ts";
import { makeIntegration, makeOrganization } from "../../test/support/world.ts";
import { type Follower, fileCursor, type Gap, type OutboundEvent, type VigilClient } from "../src/vigil-client.ts";
import { clientOf, openPartnerClient, type PartnerClient } from "./support/partner-client.ts";

let world: PartnerClient;
let client: VigilClient;
let followers: Follower[];

beforeAll(async () => {
  world = await openPartnerClient();
});
beforeEach(async () => {
  followers = [];
  const organization = await makeOrganization(world.api);
  world = { ...world, organization, integration: await makeIntegration(world.api, organization) };
  client = clientOf(world, world.net);
});
afterEach(async () => {
  await Promise.allSettled(followers.map((follower) => follower.stop()));
});
afterAll(() => world.api.close());

const write = (...types: Parameters<typeof tell>[2]): Promise<void> => tell(world.api, world.organization, types);

async function storedIds(): Promise<string[]> {
  const rows = await world.api.db.many<{ id: string }>`
    select id from outbound_events where integration_id = ${world.integration.id} order by id`;
  return rows.map(({ id }) => id);
}

function start(options: Partial<Parameters<VigilClient["follow"]>[0]> & { cursor?: string } = {}) {
  const handled: OutboundEvent[] = [];
  const stored = { cursor: options.cursor };
  const follower = client.follow({
    pollMs: 600_000,
    loadCursor: () => stored.cursor,
    handle: (event) => handled.push(event),
    saveCursor: (cursor) => {
      stored.cursor = cursor;
    },
    ...options,
  });
  followers.push(follower);
  return { follower, stored, handled, ids: () => handled.map(({ id }) => id) };
}

describe("follow", () => {
  it("hands out the log in order, and goes on after the stored cursor", async () => {
    await write("alarm.sos", "device.online", "location.update");
    const first = start();
    await until(() => expect(first.handled).toHaveLength(3));
    await first.follower.stop();
    expect(first.ids()).toEqual(await storedIds());
    expect(first.stored.cursor).toBe(first.ids().at(-1));
    await write("alarm.fall");
    const second = start({ cursor: first.stored.cursor as string });
    await until(() => expect(second.handled.map(({ type }) => type)).toEqual(["alarm.fall"]));
  });

  it("reads at once when something is pushed, and handles each event once whatever order pushes have", async () => {
    const { follower, ids } = start();
    await write("alarm.sos", "alarm.fall", "device.online");
    const events = await client.outboundEvents.page();
    for (const event of events.data.toReversed()) follower.push(event);
    await until(async () => expect(ids()).toEqual(await storedIds()));
    for (const event of events.data) follower.push(event);
    await write("device.offline");
    const [last] = (await client.outboundEvents.page({ since: ids().at(-1) })).data;
    follower.push(last as OutboundEvent);
    await until(async () => expect(ids()).toEqual(await storedIds()));
  });

  it("reports a pushed event that is not in the log without moving the cursor", async () => {
    const outside: string[] = [];
    await write("alarm.sos");
    const { follower, handled, stored } = start({ onOutsideLog: (event) => outside.push(event.type) });
    await until(() => expect(handled).toHaveLength(1));
    const [event] = handled;
    follower.push({ ...event, id: "ffffffff-0000-7000-8000-000000000000", type: "alarm.fall" } as OutboundEvent);
    await until(() => expect(outside).toEqual(["alarm.fall"]));
    expect(stored.cursor).toBe(event?.id);
  });

  it("goes on where the log begins when the cursor has expired, and reports the gap", async () => {
    await write("alarm.sos", "alarm.fall");
    const gaps: Gap[] = [];
    const from = "01000000-0000-7000-8000-000000000000";
    const { ids } = start({ cursor: from, onGap: (gap) => gaps.push(gap) });
    await until(async () => expect(ids()).toEqual(await storedIds()));
    expect(gaps).toEqual([{ from, to: expect.stringMatching(/^[0-9a-f]{8}-/) }]);
  });

  it("hands out pages whose events and cursor can be stored together", async () => {
    await write("alarm.sos", "device.online");
    const batches: [number, string][] = [];
    const follower = client.follow({
      loadCursor: () => undefined,
      handleBatch: (events, cursor) => batches.push([events.length, cursor]),
      types: ["alarm.sos"],
    });
    followers.push(follower);
    const [sos] = await storedIds();
    await until(() => expect(batches).toEqual([[1, sos]]));
  });

  it("waits while the service cannot be reached", async () => {
    const errors: unknown[] = [];
    client = clientOf(world, world.net, { maxRetries: 0 });
    world.net.fail("/outbound-events/", "refused", "lost", "refused");
    await write("alarm.sos");
    const { ids } = start({ onRetry: (error) => errors.push(error) });
    await until(async () => expect(ids()).toEqual(await storedIds()));
    expect(errors).toHaveLength(3);
  });

  it("ends with the error of the handler, and hands the event out again the next time", async () => {
    await write("alarm.sos", "alarm.fall");
    const { follower, stored } = start({
      handle: (event) => {
        if (event.type === "alarm.fall") throw new Error("full");
      },
    });
    await expect(follower.finished).rejects.toThrow("full");
    const again = start({ cursor: stored.cursor as string });
    await until(() => expect(again.handled.map(({ type }) => type)).toEqual(["alarm.fall"]));
  });

  it("ends when its signal is aborted", async () => {
    const controller = new AbortController();
    const { follower } = start({ signal: controller.signal });
    controller.abort();
    await expect(follower.finished).resolves.toBeUndefined();
  });
});

describe("the cursor in a file", () => {
  it("is what was saved last, and nothing at first", async () => {
    const folder = await mkdtemp(join(tmpdir(), "vigil-cursor-"));
    const cursor = fileCursor(join(folder, "cursor"));
    expect(await cursor.loadCursor()).toBeUndefined();
    await cursor.saveCursor("a");
    await cursor.saveCursor("b");
    expect(await fileCursor(join(folder, "cursor")).loadCursor()).toBe("b");
    await rm(folder, { recursive: true });
  });
});
