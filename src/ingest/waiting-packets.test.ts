import { expect, test } from "vitest";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold } from "./device-memory.ts";
import type { Packet } from "./packet.ts";
import { WaitingPackets } from "./waiting-packets.ts";

const sos: TrackerMessage = { kind: "alarm", type: "sos", code: "", deviceTimeMs: null };
const holds = new Map<string, DeviceHold>();

/** "a.1": device 1 of organization a. */
function holdOf(name: string): DeviceHold {
  const known = holds.get(name) ?? ({ device: { organizationId: name.split(".")[0], id: name } } as DeviceHold);
  holds.set(name, known);
  return known;
}

const packet = (device: string, bytes = 100, messages: TrackerMessage[] = []): Packet =>
  ({ hold: holdOf(device), frame: { raw: Buffer.alloc(bytes), messages, replies: [] } }) as unknown as Packet;
const many = (count: number, make: () => Packet): Packet[] => Array.from({ length: count }, make);
const namesOf = (packets: readonly Packet[]): string[] => packets.map(({ hold }) => hold.device.id);
const countOf = (packets: readonly Packet[], device: string): number =>
  namesOf(packets).filter((one) => one === device).length;

/** What is taken of the packets that wait, and what is left then. */
function choose(waiting: readonly Packet[], packets = 10, bytes = 1_000_000, busy = "", isUrgentOnly = false) {
  const queue = new WaitingPackets({ packets, bytes });
  for (const one of waiting) queue.add(one);
  const taken = queue.take((hold) => hold === holds.get(busy), isUrgentOnly);
  expect(queue.count).toBe(waiting.length - taken.length);
  return { taken, kept: queue.takeAll() };
}

test("the next batch takes packets with an alarm first, with those of the device before them", () => {
  const waiting = [...many(50, () => packet("a.1")), packet("b.1"), packet("b.1", 100, [sos]), packet("b.1")];
  const { taken } = choose(waiting, 3);
  expect(namesOf(taken)).toEqual(["b.1", "b.1", "a.1"]);
  expect(taken[1]?.frame.messages).toEqual([sos]);
});

test("the next batch shares a batch between organizations, and between the devices of one", () => {
  const waiting = [...many(500, () => packet("a.1", 20_000)), ...many(500, () => packet("a.2", 20_000)), packet("b.1")];
  const { taken, kept } = choose(waiting, 100, 200_000);
  expect(countOf(taken, "b.1")).toBe(1);
  expect(countOf(taken, "a.1")).toBe(5);
  expect(countOf(taken, "a.2")).toBe(5);
  expect(taken.length + kept.length).toBe(waiting.length);
});

test("the next batch keeps the order of submission of each device, in what is taken and in what is kept", () => {
  const waiting = many(40, () => packet("a.1")).flatMap((one) => [one, packet("b.1")]);
  const { taken, kept } = choose(waiting, 30);
  for (const device of ["a.1", "b.1"]) {
    const own = (packets: readonly Packet[]): Packet[] => packets.filter(({ hold }) => hold === holdOf(device));
    expect([...own(taken), ...own(kept)]).toEqual(own(waiting));
  }
});

test("the next batch leaves devices alone that another transaction is storing, alarms of theirs too", () => {
  const { taken } = choose([packet("a.1", 100, [sos]), packet("b.1")], 10, 1_000_000, "a.1");
  expect(namesOf(taken)).toEqual(["b.1"]);
});

test("the next batch takes alarms alone where it is asked to, and one packet that is larger than the batch", () => {
  const { taken } = choose([packet("a.1"), packet("b.1", 5_000_000, [sos])], 10, 1000, "", true);
  expect(namesOf(taken)).toEqual(["b.1"]);
});

test("the next batch has the packets of a device one after the other, and goes on with devices that had no turn", () => {
  const queue = new WaitingPackets({ packets: 4, bytes: 1_000_000 });
  for (const name of ["a.1", "a.2", "a.3", "a.1", "a.2", "a.3"]) queue.add(packet(name, 20_000));
  expect(namesOf(queue.take())).toEqual(["a.1", "a.1", "a.2", "a.3"]);
  expect(namesOf(queue.take())).toEqual(["a.2", "a.3"]);
  expect([queue.count, queue.take()]).toEqual([0, []]);
});

test("packets that are put back come before the later ones of their device", () => {
  const queue = new WaitingPackets({ packets: 10, bytes: 1_000_000 });
  const [first, second, alarm, other] = [packet("a.1"), packet("a.1"), packet("a.1", 100, [sos]), packet("a.2")];
  for (const one of [first, second]) queue.add(one);
  expect(queue.take()).toEqual([first, second]);
  for (const one of [alarm, other]) queue.add(one);
  queue.putBack([first, second]);
  expect(queue.hasUrgent).toBe(true);
  expect(queue.take().filter(({ hold }) => hold === holdOf("a.1"))).toEqual([first, second, alarm]);
  expect(queue.hasUrgent).toBe(false);
});
