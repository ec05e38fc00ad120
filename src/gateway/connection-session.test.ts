import { expect, test } from "vitest";
import { ConnectionSession } from "./connection-session.ts";

test("a session keeps what its codec notes", () => {
  const { memory } = new ConnectionSession();
  expect([memory.get("a"), memory.has("a"), [...memory.keys()]]).toEqual([undefined, false, []]);
  memory.delete("a");
  memory.set("a", "1");
  memory.set("b", "2");
  expect([memory.get("a"), memory.has("b"), [...memory.keys()]]).toEqual(["1", true, ["a", "b"]]);
  memory.delete("a");
  expect([memory.has("a"), [...memory.keys()]]).toEqual([false, ["b"]]);
});
