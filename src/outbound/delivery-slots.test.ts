import { expect, it } from "vitest";
import { type RowAge, Slots, type SlotUser } from "./delivery-slots.ts";

/** Takes one place when it is called, and tells so. */
const wanting = (slots: Slots, age: RowAge, name: string, order: string[]): SlotUser => {
  const user: SlotUser = {
    pump: () => {
      if (slots.take(user, age)) order.push(name);
    },
  };
  return user;
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("the pool of slots gives a free slot to the lane that has waited longest, new rows first", async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  wanting(slots, "new", "first", order).pump();
  for (const [age, name] of [
    ["late", "backlog"],
    ["new", "second"],
    ["new", "third"],
  ] as const) {
    wanting(slots, age, name, order).pump();
  }
  for (const age of ["new", "new", "new"] as const) {
    slots.release(age);
    await turn();
  }
  expect(order).toEqual(["first", "second", "third", "backlog"]);
  expect(slots.taken).toBe(1);
});

it("the pool of slots keeps slots free of late rows", () => {
  const slots = new Slots(8);
  const order: string[] = [];
  for (let n = 0; n < 9; n++) wanting(slots, "late", "late", order).pump();
  wanting(slots, "new", "new", order).pump();
  expect(order).toEqual([...Array(7).fill("late"), "new"]);
  expect(slots.isFull).toBe(true);
});

it("the pool of slots starts fewer late rows when limited, and wakes those that wait when the limit rises", async () => {
  const slots = new Slots(8);
  const order: string[] = [];
  slots.limitLate(1);
  for (let n = 0; n < 3; n++) wanting(slots, "late", `late ${n}`, order).pump();
  expect(order).toEqual(["late 0"]);
  slots.limitLate(3);
  await turn();
  expect(order).toEqual(["late 0", "late 1", "late 2"]);
  expect(slots.lateTaken).toBe(3);
});

it("the pool of slots begins no more late rows than are allowed, and new ones all the same", async () => {
  const slots = new Slots(8);
  const order: string[] = [];
  slots.allowLate(2);
  for (let n = 0; n < 4; n++) wanting(slots, "late", `late ${n}`, order).pump();
  wanting(slots, "new", "new", order).pump();
  expect(order).toEqual(["late 0", "late 1", "new"]);
  slots.release("late");
  await turn();
  expect(order).toHaveLength(3);
  slots.allowLate(1);
  await turn();
  expect(order).toEqual(["late 0", "late 1", "new", "late 2"]);
  slots.allowLate(Number.POSITIVE_INFINITY);
  await turn();
  expect(order.at(-1)).toBe("late 3");
  expect(slots.begun).toEqual({ new: 1, late: 4 });
});

it("the pool of slots keeps what a lane was allowed and did not take for the next one", async () => {
  const slots = new Slots(8);
  const order: string[] = [];
  slots.allowLate(0);
  let wants = true;
  const fickle: SlotUser = { pump: () => void (wants && slots.take(fickle, "late")) };
  fickle.pump();
  wanting(slots, "late", "patient", order).pump();
  wants = false;
  slots.allowLate(1);
  await turn();
  expect(order).toEqual(["patient"]);
});

it("the pool of slots reserves one place for a lane that waits with new and with late rows", async () => {
  const slots = new Slots(2);
  const others = [wanting(slots, "new", "other", []), wanting(slots, "new", "other", [])];
  for (const other of others) other.pump();
  const lane: SlotUser = { pump: () => undefined };
  slots.take(lane, "late");
  slots.take(lane, "new");
  slots.release("new");
  slots.limitLate(2);
  slots.release("new");
  await turn();
  expect(slots.taken).toBe(0);
});

it("the pool of slots passes on a slot that nobody takes, or whose lane closes", async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  const first = wanting(slots, "new", "first", order);
  first.pump();
  const leaver = wanting(slots, "new", "leaver", order);
  leaver.pump();
  wanting(slots, "new", "stays", order).pump();
  slots.release("new");
  slots.leave(leaver);
  await turn();
  expect(order).toEqual(["first", "stays"]);
});

it("the pool of slots knows whether a lane is up to date", () => {
  const slots = new Slots(8);
  const lane = wanting(slots, "new", "lane", []);
  expect(slots.hasUpToDate).toBe(false);
  slots.take(lane, "new");
  expect(slots.hasUpToDate).toBe(true);
  slots.take(lane, "late");
  expect(slots.hasUpToDate).toBe(false);
});
