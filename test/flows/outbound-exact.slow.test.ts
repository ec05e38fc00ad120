import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { followWhileWriting } from "../support/exact-replay.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

// The long version is `npm run faults -- replay`.
test("a reader that follows the cursor sees every row once and in order, whatever clocks and transactions do", async () => {
  for (const { seen, stored, polls } of await followWhileWriting(database.url, 20, 30)) {
    expect(stored.length).toBeGreaterThan(100);
    expect(polls).toBeGreaterThan(20);
    expect(seen).toEqual(stored);
  }
});
