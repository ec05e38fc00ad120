import { expect, test } from "vitest";
import { OptimisticCommits } from "./optimistic-commits.ts";
import { OrganizationRules } from "./rules/organization-rules.ts";

const organizationId = "7b1e1f0c-3a53-4f5b-9f39-4a1f7e0f2c55";
const make = () => {
  const counts: string[] = [];
  return { counts, optimistic: new OptimisticCommits((outcome) => counts.push(outcome)) };
};

/** How many batches in a row may not expect anything. */
function carefulBatches(optimistic: OptimisticCommits): number {
  let count = 0;
  while (!optimistic.take(1)) count++;
  return count;
}

test("after a batch that found another state twice as many batches are careful each time, until one succeeds", () => {
  const { optimistic, counts } = make();
  const seen: number[] = [carefulBatches(optimistic)];
  for (let failures = 0; failures < 9; failures++) {
    optimistic.failed();
    seen.push(carefulBatches(optimistic));
  }
  expect(seen).toEqual([0, 8, 16, 32, 64, 128, 256, 512, 1024, 1024]);
  optimistic.succeeded();
  optimistic.failed();
  expect(carefulBatches(optimistic)).toBe(8);
  expect(counts.filter((outcome) => outcome === "stored")).toHaveLength(1);
});

test("large batches are always careful, and do not count as such", () => {
  const { optimistic } = make();
  optimistic.failed();
  for (let n = 0; n < 100; n++) expect(optimistic.take(51)).toBe(false);
  expect(carefulBatches(optimistic)).toBe(8);
});

test("lanes are known once they were read with the same rules, also where there are none", () => {
  const { optimistic } = make();
  const rules = new Map([[organizationId, new OrganizationRules(organizationId)]]);
  expect(optimistic.lanesOf(rules)).toBeUndefined();
  optimistic.note(rules, []);
  expect(optimistic.lanesOf(rules)).toEqual([]);
  expect(optimistic.lanesOf(new Map([[organizationId, new OrganizationRules(organizationId)]]))).toBeUndefined();
});
