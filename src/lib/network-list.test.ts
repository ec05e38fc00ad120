import { expect, test } from "vitest";
import { NetworkList, parseNetwork } from "./network-list.ts";

test("a network list finds addresses of its networks, IPv4 over IPv6 too, and no others", () => {
  const list = new NetworkList(["10.0.0.0/8", "192.0.2.7/32", "fd00::/8"]);
  const inside = ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.7", "fd12::1", "fd12::1%eth0"];
  const outside = ["11.0.0.1", "192.0.2.8", "2001:db8::1", "::1", "", "nonsense"];
  expect(inside.filter((address) => !list.includes(address))).toEqual([]);
  expect(outside.filter((address) => list.includes(address))).toEqual([]);
  expect(new NetworkList([]).isEmpty).toBe(true);
});

test("a network list reads networks, and addresses as networks of one", () => {
  expect(["10.0.0.0/8", "192.0.2.7", "::1", "10.0.0.0/99", "x"].map(parseNetwork)).toEqual([
    "10.0.0.0/8",
    "192.0.2.7/32",
    "::1/128",
    undefined,
    undefined,
  ]);
});
