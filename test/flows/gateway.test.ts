import { connect } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listUnknownDevices } from "../../src/resources/devices/unknown-device-store.ts";
import { removeDevice } from "../../src/resources/use-cases/device-removal.ts";
import { cliActor } from "../support/api.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, gpsFix, openGatewayWorld, type TestGateway, vitals } from "../support/gateway.ts";
import { testProtocol } from "../support/test-protocol.ts";

const nextImei = imeis();
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld();
  gateway = await world.open();
});
afterAll(() => world.close());

async function device() {
  const uid = nextImei();
  return { uid, id: await world.addDevice(uid) };
}

/** Holds every commit of packets until it is released. */
async function holdCommits() {
  const lock = await world.db.connect();
  await lock.query("begin; lock table telemetry in access exclusive mode");
  return async () => {
    await lock.query("commit");
    await lock.end();
  };
}

const count = async (id: string): Promise<number> =>
  (await world.db.one<{ count: number }>`select count(*) as count from telemetry where device_id = ${id}`).count;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("the gateway answers only after the commit, in order", async () => {
  const { uid, id } = await device();
  const tracker = await gateway.tracker(uid);
  const release = await holdCommits();
  tracker.send(1, [vitals({ hr: 70 })]);
  tracker.send(2, [vitals({ hr: 71 })]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_queue_packets") === 2, { timeout: 10_000, interval: 20 });
  await pause(200);
  expect(tracker.lines).toEqual(["clock"]);
  expect(await world.db.many`select 1 from ingest_frames where device_id = ${id}`).toEqual([]);
  await release();
  await tracker.until("ok 2");
  expect(tracker.lines).toEqual(["clock", "ok 1", "ok 2"]);
  expect(await count(id)).toBe(2);
});

test("the gateway answers a login that is repeated on the connection, and what follows it in the same bytes", async () => {
  const { uid } = await device();
  const tracker = await gateway.tracker(uid);
  tracker.write(`{"login":"${uid}"}\n{"n":1}\n{"login":"${uid}"}\n{"n":2}\n`);
  await tracker.until("ok 2");
  expect(tracker.lines).toEqual(["clock", "clock", "ok 1", "clock", "ok 2"]);
  await tracker.close();
});

test("the gateway counts malformed frames after a good one in the same bytes, and forgives those before it", async () => {
  const { uid } = await device();
  const tracker = await gateway.tracker(uid);
  tracker.write(`${"nonsense\n".repeat(19)}{"n":1}\n${"nonsense\n".repeat(19)}`);
  await tracker.until("ok 1");
  tracker.write(`{"n":2}\n${"nonsense\n".repeat(20)}`);
  await tracker.untilClosed();
  expect(tracker.lines).toEqual(["clock", "ok 1", "ok 2"]);
});

test("the gateway takes all that a device sends at once after its login", async () => {
  const { uid } = await device();
  const tracker = await gateway.tracker();
  const frames = Array.from({ length: 40 }, (_, n) => `{"n":${n},"messages":[],"padding":"${"x".repeat(400)}"}\n`);
  tracker.write(`{"login":"${uid}"}\n${frames.join("")}`);
  await tracker.until("ok 39");
  await tracker.close();
});

test("the gateway closes a connection whose first frame is no login", async () => {
  const tracker = await gateway.tracker();
  tracker.write('{"n":1}\n');
  await tracker.untilClosed();
  expect(tracker.lines).toEqual([]);
});

test("the gateway refuses an id that nobody has registered, counts it, and shows it to operators", async () => {
  const stranger = nextImei();
  for (let round = 0; round < 3; round++) {
    const tracker = await gateway.tracker();
    tracker.write(`{"login":"${stranger}"}\n{"n":1}\n`);
    await tracker.untilClosed();
    expect(tracker.lines).toEqual([]);
  }
  await vi.waitUntil(async () => (await listUnknownDevices(world.db, 100)).some((one) => one.imei === stranger), {
    timeout: 5000,
  });
  await vi.waitFor(
    async () => {
      const row = (await listUnknownDevices(world.db, 100)).find((one) => one.imei === stranger);
      expect(row).toMatchObject({ protocol: "iw", remote_addr: "127.0.0.1", count: 3 });
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(
    gateway.metric('vigil_gateway_refused_logins_total{protocol="iw",reason="unknown_device"}'),
  ).toBeGreaterThanOrEqual(3);
});

test("the gateway refuses a device of another protocol's model, and finds one by the shorter id of its protocol", async () => {
  const uid = nextImei();
  await world.addDevice(uid, { protocol: "watch", model: "watch-generic", terminalKey: "5420323751" });
  const wrong = await gateway.tracker();
  wrong.write(`{"login":"${uid}"}\n`);
  await wrong.untilClosed();
  const watches = await world.open({ protocols: [testProtocol("watch")] });
  await watches.tracker(uid);
  await watches.tracker("5420323751");
});

test("the gateway says what the protocol has to say to a device that it refuses, before it closes", async () => {
  const strict = await world.open({
    protocols: [{ ...testProtocol(), refuse: (reason) => Buffer.from(`no ${reason}\n`) }],
    limits: { maxConsecutiveMalformed: 2 },
  });
  const stranger = await strict.tracker();
  stranger.write(`{"login":"${nextImei()}"}\n`);
  await stranger.untilClosed();
  expect(stranger.lines).toEqual(["no unknown_device"]);
  const { uid } = await device();
  const babbler = await strict.tracker(uid);
  babbler.write("x\ny\n");
  await babbler.untilClosed();
  expect(babbler.lines).toEqual(["clock", "no unreadable"]);
});

test("the gateway closes what does not begin with a login, or has no protocol", async () => {
  for (const text of ['{"n":1}\n', "GET / HTTP/1.1\r\n\r\n", "\x00\x01\x02"]) {
    const tracker = await gateway.tracker();
    tracker.write(text);
    await tracker.untilClosed();
  }
});

test("the gateway closes a connection that does not log in, one that falls silent, and not one that speaks", async () => {
  const strict = await world.open({ limits: { loginTimeoutMs: 1000, idleTimeoutMs: 1500 } });
  const mute = await strict.tracker();
  const half = await strict.tracker();
  half.write('{"log');
  await mute.untilClosed();
  await half.untilClosed();
  const { uid } = await device();
  const tracker = await strict.tracker(uid);
  for (let n = 0; n < 5; n++) {
    await pause(400);
    tracker.send(n);
  }
  await tracker.until("ok 4");
  expect(tracker.isClosed).toBe(false);
  await tracker.untilClosed();
});

test("the gateway skips malformed frames, and closes after twenty in a row or eight kilobytes without a frame", async () => {
  const { uid } = await device();
  const tracker = await gateway.tracker(uid);
  for (let round = 0; round < 3; round++) {
    tracker.write(`${"{broken\n".repeat(10)}`);
    tracker.send(round);
    await tracker.until(`ok ${round}`);
  }
  tracker.write("{broken\n".repeat(20));
  await tracker.untilClosed();
  const endless = await gateway.tracker(uid);
  for (let kilobytes = 0; kilobytes < 9; kilobytes++) endless.write("x".repeat(1024));
  await endless.untilClosed();
});

test("the newest connection of a device wins, in one process", async () => {
  const { uid, id } = await device();
  const old = await gateway.tracker(uid);
  const release = await holdCommits();
  old.send(1, [vitals({ hr: 70 })]);
  await vi.waitUntil(() => gateway.metric("vigil_ingest_queue_packets") === 1, { timeout: 10_000, interval: 20 });
  await release();
  const fresh = await gateway.tracker(uid);
  await old.untilClosed();
  fresh.send(2, [vitals({ hr: 71 })]);
  await fresh.until("ok 2");
  const [session] = await world.db.many`select epoch, disconnected_at from device_sessions where device_id = ${id}`;
  expect(session).toMatchObject({ epoch: 2, disconnected_at: null });
  await fresh.close();
  await vi.waitUntil(
    async () =>
      (await world.db.one`select disconnected_at from device_sessions where device_id = ${id}`).disconnected_at !==
      null,
    { timeout: 5000 },
  );
  expect(await world.db.one`select is_online from device_state where device_id = ${id}`).toEqual({ is_online: true });
});

test("two processes share a fleet: the newest connection wins, and an old one stores nothing", async () => {
  const other = await world.open({ url: world.url });
  const { uid, id } = await device();
  const old = await gateway.tracker(uid);
  old.send(1, [vitals({ hr: 70 })]);
  await old.until("ok 1");
  const fresh = await other.tracker(uid);
  await old.untilClosed();
  fresh.send(2, [vitals({ hr: 71 })]);
  await fresh.until("ok 2");
  const back = await gateway.tracker(uid);
  await fresh.untilClosed();
  // Without a notice the epoch alone decides.
  await world.db.run`update device_state set session_epoch = session_epoch + 1 where device_id = ${id}`;
  back.send(3, [vitals({ hr: 72 })]);
  await back.untilClosed();
  expect(back.lines).not.toContain("ok 3");
  expect(await count(id)).toBe(2);
  await other.close();
});

test("the gateway lets a device go that is deleted", async () => {
  const { uid, id } = await device();
  const tracker = await gateway.tracker(uid);
  await world.db.transaction((tx) =>
    removeDevice(tx, world.organizationId, id, cliActor(world.organizationId), world.clock.now()),
  );
  await tracker.untilClosed();
  expect(await world.db.one`select is_online from device_state where device_id = ${id}`).toEqual({ is_online: false });
});

test("the gateway bounds the connections of one address, at a time and per minute", async () => {
  const few = await world.open({ limits: { connectionsPerAddress: 2, newPerAddressPerMinute: 4 } });
  const two = [await few.tracker(), await few.tracker()];
  const third = await few.tracker();
  await third.untilClosed();
  for (const tracker of two) await tracker.close();
  await vi.waitUntil(() => few.metric("vigil_gateway_connections") === 0, { timeout: 10_000, interval: 20 });
  const fourth = await few.tracker();
  await pause(50);
  expect(fourth.isClosed).toBe(false);
  await fourth.close();
  const fifth = await few.tracker();
  await fifth.untilClosed();
});

test("the gateway closes a device that does not read its answers", async () => {
  const slow = await world.open({ limits: { unreadTimeoutMs: 300, unreadBytes: 1024 * 1024 * 1024 } });
  const { uid } = await device();
  const socket = connect({ host: "127.0.0.1", port: slow.address.port });
  socket.on("error", () => undefined);
  let isClosed = false;
  socket.on("close", () => {
    isClosed = true;
  });
  socket.pause();
  socket.write(`{"login":"${uid}"}\n`);
  // Answers pile up in the kernel's buffers first; only then the service sees that nobody reads.
  const flood = setInterval(() => {
    if (socket.writableLength < 1_000_000) socket.write('{"n":1,"loud":60000}\n'.repeat(20));
  }, 2);
  await vi.waitUntil(() => slow.metric('vigil_gateway_connections_closed_total{reason="slow_reader"}') === 1, {
    timeout: 25_000,
    interval: 50,
  });
  clearInterval(flood);
  socket.destroy();
  await vi.waitUntil(() => isClosed, { timeout: 10_000, interval: 20 });
});

test("the gateway reads no more than it may hold while commits wait, and goes on by itself", async () => {
  const small = await world.open({ limits: { waitingFrames: 10, queuedFrames: 50 } });
  const fleet = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { uid, id } = await device();
      return { id, tracker: await small.tracker(uid) };
    }),
  );
  const release = await holdCommits();
  const rounds = 100;
  for (let n = 1; n <= rounds; n++) {
    for (const { tracker } of fleet) tracker.send(n, [gpsFix(Date.now() - n, 41.9, 12.4), vitals({ hr: n })]);
    if (n % 10 === 0) await pause(5);
  }
  await vi.waitUntil(() => small.metric("vigil_gateway_paused") === 1, { timeout: 10_000, interval: 20 });
  await pause(300);
  const queued = small.metric("vigil_ingest_queue_packets");
  // What one chunk of a socket held may come on top.
  expect(queued).toBeLessThan(50 + 2 * rounds);
  await release();
  for (const { id, tracker } of fleet) {
    await tracker.until(`ok ${rounds}`);
    expect(await count(id)).toBe(rounds);
  }
  expect(small.metric("vigil_gateway_paused")).toBe(0);
});

test("drains: what was read is stored and answered, then the sockets close", async () => {
  const closing = await world.open();
  const { uid, id } = await device();
  const tracker = await closing.tracker(uid);
  const release = await holdCommits();
  for (let n = 1; n <= 5; n++) tracker.send(n, [vitals({ hr: n })]);
  await vi.waitUntil(() => closing.metric("vigil_ingest_queue_packets") === 5, { timeout: 10_000, interval: 20 });
  const closed = closing.close();
  await pause(100);
  expect(tracker.isClosed).toBe(false);
  await release();
  await closed;
  await tracker.untilClosed();
  expect(tracker.lines).toEqual(["clock", "ok 1", "ok 2", "ok 3", "ok 4", "ok 5"]);
  expect(await count(id)).toBe(5);
});

test("the gateway answers a device that has said its last byte", async () => {
  const { uid } = await device();
  const tracker = await gateway.tracker();
  tracker.socket.end(`{"login":"${uid}"}\n{"n":1}\n{"n":2}\n`);
  await tracker.until("ok 2");
  await tracker.untilClosed();
});

test("the gateway serves a protocol on a port of its own", async () => {
  const two = await world.open({ dedicatedPorts: [{ protocol: "iw", port: 0 }] });
  const { uid } = await device();
  const { openTracker } = await import("../support/tracker.ts");
  await openTracker(two.ports.get("iw") as number, uid);
});
