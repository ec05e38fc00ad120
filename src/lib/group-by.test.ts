import { expect, it } from "vitest";
import { groupBy } from "./group-by.ts";

it("groupBy keeps keys and items in the order of their first appearance", () => {
  const groups = groupBy(["pear", "apple", "plum"], (word) => word[0]);
  expect([...groups]).toEqual([
    ["p", ["pear", "plum"]],
    ["a", ["apple"]],
  ]);
});
