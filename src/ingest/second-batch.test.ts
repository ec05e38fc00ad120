import { expect, test } from "vitest";
import { packetsForSecondBatch } from "./second-batch.ts";

test("as many packets as the first transaction has begin a second one, but not a few, and never more than 200", () => {
  expect([1, 39, 40, 41, 120, 200, 201, 1000].map(packetsForSecondBatch)).toEqual([40, 40, 40, 41, 120, 200, 200, 200]);
});
