import { expect, it } from "vitest";
import { PasswordWork } from "./password-work.ts";

it("the password work hashes a bounded number at once and refuses more than may wait", async () => {
  const work = new PasswordWork({ maxRunning: 1, maxWaiting: 2 });
  const calls = Array.from({ length: 5 }, (_, index) => work.hash(`password ${index}`));
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
  const refused = outcomes[4] as PromiseRejectedResult;
  expect(refused.reason).toMatchObject({ status: 503, code: "too_busy" });
  expect(await work.verify(await work.hash("again"), "again")).toBe(true);
});
