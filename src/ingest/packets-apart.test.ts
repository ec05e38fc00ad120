import { beforeEach, expect, test } from "vitest";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { Metrics } from "../lib/metrics.ts";
import type { DeviceHold } from "./device-memory.ts";
import type { Outcome, Packet } from "./packet.ts";
import { PacketsApart } from "./packets-apart.ts";

const sos: TrackerMessage = { kind: "alarm", type: "sos", code: "", deviceTimeMs: null };

/** Devices are named after their node: "b1" has its rows on the node b. */
class FakeNodes {
  away = new Set<string>();
  afterFailure = new Set<string>();
  asked = 0;
  #listener = (): void => undefined;
  get isWhole(): boolean {
    return this.away.size === 0;
  }
  isKnownAway = (id: string): boolean => this.away.has(id.charAt(0));
  findAway = async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
    this.asked++;
    return new Set(ids.filter(this.isKnownAway));
  };
  noteFailure = async (): Promise<void> => this.change(this.afterFailure);
  onChange = (listener: () => void): void => {
    this.#listener = listener;
  };
  change(away: Iterable<string>): void {
    this.away = new Set(away);
    this.#listener();
  }
}

const holds = new Map<string, DeviceHold>();
const holdOf = (id: string): DeviceHold => {
  const known = holds.get(id) ?? ({ device: { id } } as DeviceHold);
  holds.set(id, known);
  return known;
};
const packet = (device: string, messages: TrackerMessage[] = [], bytes = 100): Packet =>
  ({ hold: holdOf(device), frame: { raw: Buffer.alloc(bytes), messages, replies: [] } }) as unknown as Packet;

let nodes: FakeNodes;
let settled: { packet: Packet; outcome: Outcome }[];
let waiting: Packet[];
let apart: PacketsApart;
beforeEach(() => {
  nodes = new FakeNodes();
  settled = [];
  waiting = [];
  apart = new PacketsApart({
    nodes,
    metrics: new Metrics(),
    settle: (packets, outcome) => settled.push(...packets.map((one) => ({ packet: one, outcome }))),
    putBack: (packets) => waiting.unshift(...packets),
  });
});

test("nothing is asked while all nodes answer", async () => {
  const packets = [packet("a1"), packet("b1")];
  expect(await apart.divide(packets)).toBe(packets);
  expect(nodes.asked).toBe(0);
});

test("after a failed attempt only the packets of devices on a node that is away wait apart, and come back in their order", async () => {
  const [one, two, three, four] = [packet("a1"), packet("b1"), packet("b1"), packet("b2")] as const;
  nodes.afterFailure = new Set("b");
  expect(await apart.isolate([one, two, three, four], new Error("refused"))).toEqual([one]);
  expect(apart.count).toBe(3);
  const later = packet("b1");
  expect(await apart.divide([packet("b3"), later, one])).toEqual([one]);
  nodes.change([]);
  expect(waiting.slice(0, 3)).toEqual([two, three, four]);
  expect(waiting).toContain(later);
  expect(waiting.indexOf(later)).toBeGreaterThan(waiting.indexOf(three));
  expect(apart.count).toBe(0);
  expect(settled).toEqual([]);
});

test("a failure that no node is to blame for sets nothing apart", async () => {
  expect(await apart.isolate([packet("a1"), packet("b1")], new Error("no partition"))).toBeUndefined();
});

test("a packet does not overtake those of its device that wait apart, also when the node answers in between", async () => {
  const [first, second] = [packet("b1"), packet("b1")];
  nodes.change("b");
  await apart.divide([first]);
  // Asked while the answer is on its way: the node is back, and the second one was already taken.
  const divided = apart.divide([second, packet("a1")]);
  nodes.change([]);
  expect(await divided).toEqual([packet("a1")]);
  expect(waiting).toEqual([first, second]);
});

test("packets of a second node that is away wait on when the first one is back", async () => {
  nodes.change("bc");
  const [ofB, ofC] = [packet("b1"), packet("c1")];
  await apart.divide([ofB, ofC]);
  nodes.change("c");
  expect(waiting).toEqual([ofB, ofC]);
  expect(await apart.divide(waiting)).toEqual([ofB]);
  expect(apart.count).toBe(1);
});

test("what is too much is left unanswered, and alarms still find room", async () => {
  nodes.change("b");
  await apart.divide(Array.from({ length: 2100 }, (_, index) => packet(`b${index}`)));
  expect(apart.count).toBe(2000);
  expect(settled.map(({ outcome }) => outcome)).toEqual(Array(100).fill("deferred"));
  await apart.divide([packet("b9", [sos])]);
  expect(apart.count).toBe(2001);
  await apart.divide(Array.from({ length: 600 }, (_, index) => packet(`b${index}`, [sos])));
  expect(apart.count).toBe(2500);
});

test("its memory is bounded in bytes too", async () => {
  nodes.change("b");
  await apart.divide(Array.from({ length: 100 }, () => packet("b1", [], 64 * 1024)));
  expect(apart.count).toBe(64);
});

test("after the close nothing waits apart any more", async () => {
  nodes.change("b");
  const [early, late] = [packet("b1"), packet("b1")];
  await apart.divide([early]);
  expect(apart.close()).toEqual([early]);
  await apart.divide([late]);
  expect(settled).toEqual([{ packet: late, outcome: "lost" }]);
});
