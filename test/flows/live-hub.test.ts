import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { LiveHub, type LiveHubOptions } from "../../src/console/stream/live-hub.ts";
import { personPrincipal } from "../../src/http/principal.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { findPerson } from "../../src/oauth/person-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice, makeMember, type TestDevice } from "../support/fixtures.ts";
import { metricOf } from "../support/metric.ts";
import { until } from "../support/until.ts";
import { makeOrganization, type TestOrganization } from "../support/world.ts";

describe("the source of live streams", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let device: TestDevice;
  const hubs: LiveHub[] = [];

  beforeAll(async () => {
    api = await openTestApi({ isPrivate: true });
    organization = await makeOrganization(api);
    device = await makeDevice(api, organization);
  });
  afterEach(async () => {
    for (const hub of hubs.splice(0)) await hub.close();
  });
  afterAll(() => api.close());

  function start(options: Partial<LiveHubOptions> = {}): { hub: LiveHub; metrics: Metrics } {
    const metrics = new Metrics();
    const { db, clock } = api;
    const hub = new LiveHub({ db, clock, log: makeLogger("silent"), metrics, ...options });
    hubs.push(hub);
    return { hub, metrics };
  }

  async function admin() {
    const { id } = await makeMember(api, organization);
    await api.db.run`update memberships set role = 30 where user_id = ${id}`;
    const person = await findPerson(api.db, organization.id, id);
    if (!person) throw new Error("there is no such member");
    return personPrincipal(person);
  }

  const textOf = (output: Readable): (() => string) => {
    let text = "";
    output.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    return () => text;
  };

  it("says something now and then, also when nothing happens", async () => {
    const text = textOf(start({ commentEveryMs: 20 }).hub.open(await admin(), undefined));
    await until(() => expect(text().match(/^:$/gm)?.length).toBeGreaterThan(2));
    expect(text()).toMatch(/^retry: \d+\nid: \d+\nevent: hello\n/);
  });

  it("feeds a thousand streams, and asks nothing when the last one has closed", async () => {
    const { hub, metrics } = start();
    const people = await Promise.all(Array.from({ length: 50 }, admin));
    const outputs = people.flatMap((person) => Array.from({ length: 20 }, () => hub.open(person, undefined)));
    const texts = outputs.map(textOf);
    await until(() => expect(metricOf(metrics, "vigil_console_streams")).toBe(1000));
    const id = await makeEvent(api, device);
    await until(() => expect(texts.every((text) => text().includes(id))).toBe(true));
    for (const output of outputs) output.destroy();
    await until(() => expect(metricOf(metrics, "vigil_console_streams")).toBe(0));
  });

  it("disconnects a reader that does not read, and keeps the others", async () => {
    const { hub, metrics } = start();
    const slow = hub.open(await admin(), undefined);
    const text = textOf(hub.open(await admin(), undefined));
    await until(() => expect(metricOf(metrics, "vigil_console_streams")).toBe(2));
    const message = "x".repeat(100_000);
    const ids: string[] = [];
    for (let count = 0; count < 45; count++) ids.push(await makeEvent(api, device, { message }));
    await until(() => expect(ids.filter((id) => text().includes(id))).toEqual(ids));
    const last = await makeEvent(api, device);
    await until(() => expect(slow.destroyed).toBe(true));
    await until(() => expect(text()).toContain(last));
    expect(metricOf(metrics, "vigil_console_streams")).toBe(1);
  });

  it("tells the same to streams of several processes", async () => {
    const texts = await Promise.all(
      [start(), start()].map(async ({ hub }) => textOf(hub.open(await admin(), undefined))),
    );
    await until(() => expect(texts.every((text) => text().includes("hello"))).toBe(true));
    const ids = await Promise.all(Array.from({ length: 20 }, () => makeEvent(api, device)));
    const told = (text: string): string[] => ids.filter((id) => text.includes(`"id":"${id}"`));
    await until(() => expect(texts.map((text) => told(text()).length)).toEqual([20, 20]));
    const order = texts.map((text) => [...text().matchAll(/"id":"([0-9a-f-]{36})","event_type"/g)].map(([, id]) => id));
    expect(order[0]).toEqual(order[1]);
    expect(new Set(order[0]).size).toBe(order[0]?.length);
  });
});
