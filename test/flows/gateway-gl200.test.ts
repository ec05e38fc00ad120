import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type CommandWorld, openCommandWorld } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { openRawSocket, type RawSocket } from "../support/raw-socket.ts";
import { openUdpDevice } from "../support/udp-device.ts";

let world: CommandWorld;
let gateway: TestGateway;
let uid: string;
let device: RawSocket;

beforeAll(async () => {
  world = await openCommandWorld();
  gateway = await world.openGateway();
  uid = await world.device("gl200-generic");
  device = await openRawSocket(gateway.address.port);
});
afterAll(async () => {
  device.close();
  await world.close();
});

function time(offsetSeconds: number): string {
  return new Date(Date.now() + offsetSeconds * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
}
const place = (): string => `0,0,1,2,3.2,118,37.5,12.496366,41.902782,${time(-5)},0222,0001,14A0,3B882A2,0.0,64`;
const count = async (table: "locations" | "events", type?: string) => {
  const { token } = world.integration;
  const query = table === "events" ? `/api/v1/events/?device_uid=${uid}` : `/api/v1/devices/${uid}/locations/`;
  const { body } = await world.api.call("GET", query, { token });
  const rows: { event_type?: string }[] = body.results;
  return rows.filter((row) => type === undefined || row.event_type === type).length;
};

it("a gl200 tracker logs in with a heartbeat, which is answered after the commit", async () => {
  device.write(`+ACK:GTHBD,1A0900,${uid},GL300,${time(0)},00A3$`);
  await device.untilText("+SACK:GTHBD,1A0900,00A3$");
});

it("a gl200 tracker stores fixes, and an alarm of the button as an event", async () => {
  device.write(`+RESP:GTFRI,1A0900,${uid},GL300,${place()},${time(0)},00A4$`);
  device.write(`junk+RESP:GTSOS,1A0900,${uid},GL300,${place()},${time(0)},00A5$`);
  await vi.waitUntil(() => count("events", "sos").then((found) => found === 1), { timeout: 10_000, interval: 20 });
  expect(await count("locations")).toBeGreaterThan(0);
});

it("a gl200 tracker acknowledges a command by the serial that comes back", async () => {
  const id = await world.command(uid, "locate_now");
  const frame = await device.untilText("AT+GTRTO=gl200,1,,,,,,");
  const [, serial] = /,,,,,,([\dA-F]{4})\$$/.exec(frame) ?? [];
  device.write(`+ACK:GTRTO,1A0900,${uid},GL300,RTL,${serial},${time(0)},00A6$`);
  expect((await world.until(uid, id, "ack_ok")).error).toBeNull();
});

it("a gl200 tracker closes on a device that nobody has registered", async () => {
  const stranger = await openRawSocket(gateway.address.port);
  stranger.write(`+ACK:GTHBD,1A0900,490154299999990,GL300,${time(0)},00A3$`);
  await stranger.untilClosed();
  expect(stranger.received()).toHaveLength(0);
});

it("a gl200 tracker speaks UDP on the same port, commands included", async () => {
  const own = await world.device("gl200-sack");
  const tracker = await openUdpDevice(gateway.address.port);
  tracker.write(`+RESP:GTFRI,1A0900,${own},GL300,${place()},${time(0)},00B1$`);
  await tracker.until("+SACK:00B1$");
  const id = await world.command(own, "restart");
  await vi.waitUntil(() => tracker.lines.some((line) => line.startsWith("AT+GTRTO=gl200,3,")), { timeout: 10_000 });
  const serial = tracker.lines.at(-1)?.slice(-5, -1);
  tracker.write(`+ACK:GTRTO,1A0900,${own},GL300,REBOOT,${serial},${time(0)},00B2$`);
  await world.until(own, id, "ack_ok");
  tracker.close();
});
