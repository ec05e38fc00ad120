import { expect, test } from "vitest";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { chooseBatch } from "./batch-choice.ts";
import type { DeviceHold } from "./device-memory.ts";
import type { Packet } from "./packet.ts";

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

const choose = (waiting: Packet[], packets = 10, bytes = 1_000_000, busy = "") =>
  chooseBatch(waiting, { limits: { packets, bytes }, isBusy: (hold) => hold === holds.get(busy) });

test("the next batch takes packets with an alarm first, with those of the device before them", () => {
  const waiting = [...many(50, () => packet("a.1")), packet("b.1"), packet("b.1", 100, [sos]), packet("b.1")];
  const { taken } = choose(waiting, 3);
  expect(namesOf(taken)).toEqual(["a.1", "b.1", "b.1"]);
  expect(taken.at(-1)?.frame.messages).toEqual([sos]);
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
  const waiting = [packet("a.1"), packet("b.1", 5_000_000, [sos])];
  const limits = { packets: 10, bytes: 1000 };
  const { taken } = chooseBatch(waiting, { limits, isBusy: () => false, isUrgentOnly: true });
  expect(namesOf(taken)).toEqual(["b.1"]);
});
