import { describe, expect, it } from "vitest";
import type { Outcome } from "./prepared-read.ts";
import { QuickReads } from "./quick-reads.ts";
import type { SharedConnection } from "./shared-connections.ts";

const outcome: Outcome = { rows: [], rowCount: 0 };

interface FakeState {
  isOpen: boolean;
  waiting: number;
  stalled: number;
  tookMs: number;
  error: unknown;
}

/** A connection whose statements take as long as the test says, and fail if it says so. */
function fakeConnection(given: Partial<FakeState> = {}) {
  const state: FakeState = { isOpen: true, waiting: 0, stalled: 0, tookMs: 1, error: undefined, ...given };
  const connection = {
    get isOpen() {
      return state.isOpen;
    },
    get waiting() {
      return state.waiting;
    },
    stalledMs: () => state.stalled,
    open: async () => {
      state.isOpen = true;
    },
    query: async (_statement: unknown, onAnswer: (ms: number) => void) => {
      onAnswer(state.tookMs);
      if (state.error) throw state.error;
      return outcome;
    },
  };
  return { state, connection: connection as unknown as SharedConnection };
}

const read = { name: "v_1", text: "select id from devices where id = $1", values: [] };
const answer = async (): Promise<Outcome> => outcome;

async function known(...fakes: ReturnType<typeof fakeConnection>[]): Promise<QuickReads> {
  const quick = new QuickReads(fakes.map(({ connection }) => connection));
  await quick.timed(read, answer);
  return quick;
}

describe("reads on shared connections", () => {
  it("begin on the pool, and come once they have proved quick", async () => {
    const { connection } = fakeConnection();
    const quick = new QuickReads([connection]);
    expect(quick.find(read)).toBeUndefined();
    await quick.timed(read, answer);
    expect(quick.find(read)).toBe(connection);
  });

  it("go back to the pool when they have become slow, and come again when they are quick", async () => {
    const { connection, state } = fakeConnection();
    const quick = await known({ connection, state });
    state.tookMs = 500;
    await quick.run(connection, read);
    expect(quick.find(read)).toBeUndefined();
    for (let count = 0; count < 30; count++) await quick.timed(read, answer);
    expect(quick.find(read)).toBe(connection);
  });

  it.each([
    ["writes", { name: "v_2", text: "update devices set name = $1 returning id" }],
    ["writes in a read", { name: "v_3", text: "with a as (delete from devices returning id) select * from a" }],
    ["locks rows", { name: "v_4", text: "select id from devices where id = $1 for update of d" }],
    ["locks for others", { name: "v_5", text: "select id from devices for no key update" }],
    ["takes a lock", { name: "v_6", text: "select pg_advisory_xact_lock($1)" }],
    ["searches", { name: "v_7", text: "select id from devices where search like $1" }],
    ["skips pages", { name: "v_8", text: "select id from devices order by uid limit $1 offset $2" }],
    ["has no name", { name: undefined, text: read.text }],
  ])("never take what %s", async (_what, statement) => {
    const { connection } = fakeConnection();
    const quick = new QuickReads([connection]);
    for (let count = 0; count < 3; count++) await quick.timed({ ...statement, values: [] }, answer);
    expect(quick.find({ ...statement, values: [] })).toBeUndefined();
  });

  it("take the connection with the least waiting, and none that stands still or is full", async () => {
    const [one, two] = [fakeConnection({ waiting: 3 }), fakeConnection({ waiting: 1 })];
    const quick = await known(one, two);
    expect(quick.find(read)).toBe(two.connection);
    two.state.stalled = 1000;
    expect(quick.find(read)).toBe(one.connection);
    one.state.waiting = 64;
    expect(quick.find(read)).toBeUndefined();
  });

  it.each([
    ["took too long", { code: "57014" }],
    ["was not parsed", { code: "26000" }],
    ["was parsed already", { code: "42P05" }],
    ["lost its connection", new Error("Connection terminated unexpectedly")],
    ["had no answer", new Error("Query read timeout")],
  ])("run again on the pool when the statement %s", async (_what, error) => {
    const { connection } = fakeConnection({ error });
    const quick = await known();
    expect(await quick.run(connection, read)).toBeUndefined();
  });

  it("fail with what the statement itself is to blame for", async () => {
    const error = { code: "22012" };
    const quick = await known();
    await expect(quick.run(fakeConnection({ error }).connection, read)).rejects.toBe(error);
  });

  it("go to the pool while a connection is being opened", async () => {
    const fake = fakeConnection({ isOpen: false });
    const quick = await known(fake);
    expect(quick.find(read)).toBeUndefined();
    await Promise.resolve();
    expect(quick.find(read)).toBe(fake.connection);
  });
});
