import { describe, expect, it } from "vitest";
import { TokenMisses } from "./token-misses.ts";

describe("tokens that do not exist", () => {
  it("make a network wait until its window is over, and no other", () => {
    const misses = new TokenMisses({ limit: 3, windowMs: 60_000 });
    for (let n = 0; n < 3; n++) {
      expect(misses.waitSeconds("192.0.2.1", 1000)).toBe(0);
      misses.add("192.0.2.1", 1000);
    }
    expect(misses.waitSeconds("192.0.2.1", 11_000)).toBe(50);
    expect(misses.waitSeconds("192.0.2.2", 11_000)).toBe(0);
    expect(misses.waitSeconds("192.0.2.1", 61_000)).toBe(0);
    misses.add("192.0.2.1", 61_000);
    expect(misses.waitSeconds("192.0.2.1", 61_000)).toBe(0);
  });

  it("are counted for a bounded number of networks", () => {
    const misses = new TokenMisses({ limit: 1, maxNetworks: 2 });
    for (const network of ["a", "b", "c"]) misses.add(network, 0);
    expect(["a", "b", "c"].map((network) => misses.waitSeconds(network, 0) > 0)).toEqual([false, true, true]);
  });
});
