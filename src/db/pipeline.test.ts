import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openScriptedPostgres, serverMessage } from "../../test/support/scripted-postgres.ts";
import { binaryArray } from "./binary-writer.ts";
import { CopyRows, copyAndRun, copyTarget } from "./copy-in.ts";
import { isRefusal } from "./node-watch.ts";
import { pipeline } from "./pipeline.ts";

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("create table rows (id int primary key)");
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const named = (name: string, text: string, values: unknown[] = []) =>
  ({ name, text, values, rowMode: "array" }) as const;
const begin = named("begin", "begin");
const insert = (id: number) => named("insert", "insert into rows values ($1) returning id", [id]);
const list = named("list", "select id from rows where id > $1 order by id", [0]);

test("a pipeline answers each of its statements, also when they are known already", async () => {
  for (const id of [1, 2]) {
    const [first, second, third] = await pipeline(client, [begin, insert(id), list]);
    expect([first?.command, second?.rows, third?.rows.at(-1)]).toEqual(["BEGIN", [[id]], [id]]);
    await client.query("commit");
  }
  expect((await client.query("select count(*)::int as n from rows")).rows).toEqual([{ n: 2 }]);
});

test("a pipeline ends with the first statement that fails, and the connection goes on", async () => {
  const other = named("other", "select 7::int");
  await expect(pipeline(client, [begin, insert(2), other])).rejects.toMatchObject({ code: "23505" });
  await client.query("rollback");
  await expect(pipeline(client, [named("wrong", "select nothing"), other])).rejects.toMatchObject({ code: "42703" });
  const [answer] = await pipeline(client, [other]);
  expect(answer?.rows).toEqual([[7]]);
});

test("a pipeline writes arrays, buffers, texts, numbers and nulls as they are, whatever their size, and again in the same buffers", async () => {
  const text =
    "select $1::int8[] as a, $2::text[] as b, $3::text as c, $4::int4 as d, $5::bytea as e, $6::uuid[] as f, $7::text as g";
  for (const count of [0, 3, 5000]) {
    const numbers = Array.from({ length: count }, (_, index) => index * 2 ** 40);
    const values = [
      binaryArray("int8", numbers, (writer, number) => writer.int8(number)),
      binaryArray("text", numbers, (writer, number) => writer.text(number % 3 === 0 ? null : `ü${number}`)),
      "Größe",
      7,
      Buffer.from([0, 1, 255]),
      binaryArray("uuid", [], () => undefined),
      null,
    ];
    for (let turn = 0; turn < 2; turn++) {
      const [answer] = await pipeline(client, [named("values", text, values), list]);
      expect(answer?.rows).toEqual([
        [
          numbers.map(String),
          numbers.map((number) => (number % 3 === 0 ? null : `ü${number}`)),
          "Größe",
          7,
          Buffer.from([0, 1, 255]),
          [],
          null,
        ],
      ]);
    }
  }
});

test("a pipeline with a value that cannot be written sends nothing, and the connection goes on", async () => {
  const wrong = binaryArray("timestamptz", [Number.NaN], (writer, time) => writer.timestamptz(time));
  const times = named("times", "select $1::timestamptz[]", [wrong]);
  await expect(pipeline(client, [begin, times])).rejects.toThrow(RangeError);
  const [answer] = await pipeline(client, [named("other", "select 7::int")]);
  expect(answer?.rows).toEqual([[7]]);
});

test("a pipeline reads rows as the connection does, as lists and as objects, the first time and later", async () => {
  const types = { getTypeParser: (oid: number) => (text: string) => `${oid}: ${text}` } as pg.CustomTypesConfig;
  const own = new pg.Client({ connectionString: database.url, types });
  await own.connect();
  const text = "select $1::int8 as number, null::text as nothing, $2::timestamptz at time zone 'UTC' as time";
  const values = [7, new Date(0)];
  const row = { number: "20: 7", nothing: null, time: "1114: 1970-01-01 00:00:00" };
  for (let turn = 0; turn < 2; turn++) {
    const [list, object] = await pipeline(own, [named("list", text, values), { name: "object", text, values }]);
    expect(list?.rows).toEqual([Object.values(row)]);
    expect(object?.rows).toEqual([row]);
  }
  await own.end();
});

test("a pipeline writes lists of texts as the database reads them", async () => {
  const texts = ['a "b"', "c\\d", "{e,f}", "", "NULL", null];
  const [answer] = await pipeline(client, [named("texts", "select $1::text[]", [texts])]);
  expect(answer?.rows).toEqual([[texts]]);
});

test("a name stands for one statement, and a value must be one that has a text", async () => {
  await expect(pipeline(client, [named("list", "select 1")])).rejects.toThrow("another statement");
  await expect(pipeline(client, [named("object", "select $1::json", [{ a: 1 }])])).rejects.toThrow(TypeError);
  const [answer] = await pipeline(client, [named("other", "select 7::int")]);
  expect(answer?.rows).toEqual([[7]]);
});

test("a pipeline is rejected when the connection is lost", async () => {
  const lost = new pg.Client({ connectionString: database.url });
  lost.on("error", () => undefined);
  await lost.connect();
  const { rows } = await lost.query("select pg_backend_pid() as pid");
  const isRejected = expect(pipeline(lost, [begin, named("sleep", "select pg_sleep(20)")])).rejects.toThrow();
  await client.query("select pg_terminate_backend($1)", [rows[0].pid]);
  await isRejected;
});

const executed = (tag: string) =>
  ["1", "2", "n"].map((type) => serverMessage(type)).concat(serverMessage("C", `${tag}\0`));
const ending = serverMessage("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
const copied = [serverMessage("G", "\0\0\0"), serverMessage("C", "COPY 1\0"), serverMessage("Z", "T")];

test.each([
  ["a pipeline", [], (client: pg.Client) => pipeline(client, [begin, named("end", "commit")])],
  [
    "a pipeline after COPY",
    copied,
    (client: pg.Client) => {
      const copy = new CopyRows(copyTarget("rows", ["id"]));
      copy.row().int4(1);
      return copyAndRun(client, [copy], [begin, named("end", "commit")]);
    },
  ],
])("%s is rejected when the server ends the connection after its last answer", async (_what, before, run) => {
  const server = await openScriptedPostgres([...before, ...executed("BEGIN"), ...executed("COMMIT"), ending]);
  const lost = new pg.Client({ connectionString: server.url });
  lost.on("error", () => undefined);
  await lost.connect();
  const error = await run(lost).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "57P01" });
  // The statements may have been committed.
  expect(isRefusal(error)).toBe(false);
  await server.close();
});
