import { afterAll, beforeAll, expect, test } from "vitest";
import { iw } from "../../src/codecs/iw/protocol.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { ecgFrame, openIwWatch } from "../support/iw-watch.ts";

const nextImei = imeis();
const clock = makeManualClock(new Date("2026-03-01T08:15:30.000Z"));
let world: GatewayWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openGatewayWorld(clock);
  gateway = await world.open({ protocols: [iw], services: { deviceMediaMbPerDay: 1 } });
});
afterAll(() => world.close());

const voiceFrame = (time: string, total: number, sequence: number): string => {
  const start = sequence === 1 ? "#!AMR\n" : "";
  return `IWAP07,${time},${total},${sequence},1024,${start.padEnd(1024, "<")}#`;
};
const ecg = (sequence: number): string => ecgFrame({ total: 2, sequence, samples: [1, 2, 3, 4] });
const recordings = (id: string) => world.db.many`select id from ecg_recordings where device_id = ${id}`;

test("the ingest takes voice and ECG up to the share of a day, refuses the rest as the protocol can, and starts again the next day", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid);
  const watch = await openIwWatch(gateway.address.port, uid);
  const time = "20260301081500";
  expect(await watch.send(voiceFrame(time, 4, 1))).toBe(`IWBP07,${time},4,1,1#`);
  // As if it had sent recordings all day: there is room for one part, and what a row costs.
  await world.db.run`update device_media_days set bytes = ${1024 * 1024 - 1500} where device_id = ${id}`;
  expect(await watch.send(voiceFrame(time, 4, 2))).toBe(`IWBP07,${time},4,2,1#`);
  expect(await watch.send(voiceFrame(time, 4, 3))).toBe(`IWBP07,${time},4,3,0#`);
  expect(await world.db.many`select 1 from voice_parts where device_id = ${id}`).toHaveLength(2);
  expect(gateway.metric('vigil_media_refused_total{reason="quota"}')).toBe(1);
  const neighbour = nextImei();
  await world.addDevice(neighbour);
  const other = await openIwWatch(gateway.address.port, neighbour);
  expect(await other.send(voiceFrame("20260301081600", 1, 1))).toBe("IWBP07,20260301081600,1,1,1#");
  other.close();
  clock.advanceMs(86_400_000);
  expect(await watch.send(voiceFrame("20260302081600", 1, 1))).toBe("IWBP07,20260302081600,1,1,1#");
  watch.close();
});

test("the ingest refuses ECG of a model that has none, unless an operator says that this device has it", async () => {
  const uid = nextImei();
  const id = await world.addDevice(uid, { model: "iw-pt880" });
  const watch = await openIwWatch(gateway.address.port, uid);
  expect(await watch.send(ecg(1))).toBe("IWBPHD#");
  expect(await recordings(id)).toEqual([]);
  expect(gateway.metric('vigil_media_refused_total{reason="model"}')).toBe(1);
  await world.db.run`
    insert into device_capability_overrides (device_id, organization_id, code, supported, updated_at)
    values (${id}, ${world.organizationId}, 'ecg', true, ${clock.now()})`;
  expect(await watch.send(ecg(2))).toBe("IWBPHD#");
  expect(await recordings(id)).toHaveLength(1);
  watch.close();
});
