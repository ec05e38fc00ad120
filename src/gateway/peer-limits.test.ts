import { expect, test } from "vitest";
import { defaultLimits } from "./gateway-limits.ts";
import { type Peer, PeerLimits } from "./peer-limits.ts";

const limits = { ...defaultLimits, unlogged: 6, unloggedPerAddress: 3 };

function world() {
  const peers = new PeerLimits(limits);
  const closed: string[] = [];
  const open = (name: string, network: string): Peer & { refusal: string | undefined } => {
    const peer: Peer = { network, giveWay: () => closed.push(name) };
    return Object.assign(peer, { refusal: peers.admit(peer, 0) });
  };
  return { peers, closed, open };
}

test("the limit of peers lets the oldest silent connection of a full address give way", () => {
  const { closed, open, peers } = world();
  for (const name of ["a1", "a2", "a3", "a4"]) expect(open(name, "a").refusal).toBeUndefined();
  expect(closed).toEqual(["a1"]);
  open("b1", "b");
  expect(closed).toEqual(["a1"]);
  expect(peers.unloggedCount).toBe(4);
});

test("the limit of peers lets the oldest silent connection of all give way when all addresses together are too many", () => {
  const { closed, open } = world();
  for (const name of ["a1", "a2", "a3"]) open(name, "a");
  for (const name of ["b1", "b2", "b3", "c1"]) open(name, name[0] as string);
  expect(closed).toEqual(["a1"]);
});

test("the limit of peers keeps a peer that has sent a login, and refuses newcomers of an address full of them", () => {
  const { closed, open, peers } = world();
  for (const name of ["a1", "a2", "a3"]) peers.ask(open(name, "a"), 0);
  expect(open("a4", "a").refusal).toBe("unlogged_limit");
  expect(closed).toEqual([]);
});

test("the limit of peers does not let full queues of logins keep out other addresses", () => {
  const { closed, open, peers } = world();
  for (const name of ["a1", "a2", "a3", "b1", "b2", "b3"]) peers.ask(open(name, name[0] as string), 0);
  expect(open("c1", "c").refusal).toBeUndefined();
  expect(closed).toEqual(["a3"]);
});

test("the limit of peers stops counting peers that have logged in, and forgets those that disconnected", () => {
  const { closed, open, peers } = world();
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) {
    const peer = open(name, "a");
    peers.ask(peer, 100);
    peers.answered(peer, 100);
  }
  expect([peers.unloggedCount, closed]).toEqual([0, []]);
  const last = open("a6", "a");
  peers.release(last, 0);
  expect(peers.unloggedCount).toBe(0);
});

test("the limit of peers bounds what all peers together have sent after their logins", () => {
  const { open, peers } = world();
  const first = open("a1", "a");
  expect(peers.ask(first, 6 * 2048)).toBe(true);
  expect(peers.ask(open("b1", "b"), 1)).toBe(false);
  peers.answered(first, 6 * 2048);
  expect(peers.ask(open("c1", "c"), 2048)).toBe(true);
});
