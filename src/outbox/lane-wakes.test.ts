import { expect, test } from "vitest";
import type { Db } from "../db/database.ts";
import type { Sql } from "../db/sql.ts";
import { makeLogger } from "../lib/logger.ts";
import { LaneWaker } from "./lane-wakes.ts";

/** Answers the n-th statement; undefined: it succeeds. Notes the integrations that each names. */
function fakeDatabase(failureOf: (count: number) => Error | undefined) {
  const sent: string[][] = [];
  const run = async (statement: Sql): Promise<number> => {
    sent.push([...((statement.values[0] as Sql).values[1] as string[])]);
    await Promise.resolve();
    const failure = failureOf(sent.length);
    if (failure) throw failure;
    return 1;
  };
  return { sent, db: { point: { run } as unknown as Db } };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a wake-up whose statement fails is sent once more, with those that came meanwhile", async () => {
  const { sent, db } = fakeDatabase((count) => (count === 1 ? new Error("Connection terminated") : undefined));
  const waker = new LaneWaker(db, makeLogger("silent"));
  waker.wake(["a"]);
  waker.wake(["b"]);
  await turn();
  expect(sent.map((ids) => ids.toSorted())).toEqual([["a"], ["a", "b"]]);
});

test("a wake-up that fails twice is left to the sweep of the workers, and the next one is sent", async () => {
  const { sent, db } = fakeDatabase((count) => (count <= 2 ? new Error("Connection terminated") : undefined));
  const waker = new LaneWaker(db, makeLogger("silent"));
  waker.wake(["a"]);
  await turn();
  expect(sent).toEqual([["a"], ["a"]]);
  waker.wake(["b"]);
  await turn();
  expect(sent.at(-1)).toEqual(["b"]);
});
