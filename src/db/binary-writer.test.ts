import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { BinaryWriter, binaryArray } from "./binary-writer.ts";
import { CopyRows, copyAnd, copyAndRun, copyTarget } from "./copy-in.ts";

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`create table rows (id uuid, at timestamptz, day date, b bool, i2 int2, i4 int4, i8 int8, f4 float4,
    f8 float8, t text, j jsonb, raw bytea)`);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const columns = ["id", "at", "day", "b", "i2", "i4", "i8", "f4", "f8", "t", "j", "raw"];
const id = Buffer.from("019ca877806f7b0e8a316a1f2c3d4e5f", "hex");
const times = [
  "2026-03-01T08:15:30.123Z",
  "1969-12-31T23:59:59.999Z",
  "1999-12-31T23:59:59.999Z",
  "2000-01-01T00:00:00.000Z",
  "2255-06-05T23:47:34.740Z",
  "0099-01-01T00:00:00.001Z",
];

test("the binary writer writes rows that read back as they were, nulls too", async () => {
  const copy = new CopyRows(copyTarget("rows", columns));
  for (const time of times) {
    const ms = Date.parse(time);
    const row = copy.row().uuid(id).timestamptz(ms).date(ms).bool(true).int2(-32_768).int4(2_147_483_647);
    row.int8(-9_007_199_254_740_991).float4(0.5).float8(-41.902782).text("Größe").jsonb('{"a":[1,"ü"]}').bytea(id);
  }
  const empty = copy.row();
  for (const _ of columns) empty.null();
  await client.query("begin");
  await copyAnd(client, [copy, new CopyRows(copyTarget("rows", columns))], "commit");
  const { rows } = await client.query("select *, day::text as day_text, i8::text as i8_text from rows");
  expect(rows.slice(0, -1).map(({ at }) => at.toISOString())).toEqual(times);
  expect(rows.slice(0, -1).map(({ day_text }) => day_text)).toEqual(times.map((time) => time.slice(0, 10)));
  expect(rows[0]).toMatchObject({
    id: "019ca877-806f-7b0e-8a31-6a1f2c3d4e5f",
    b: true,
    i2: -32_768,
    i4: 2_147_483_647,
    i8_text: "-9007199254740991",
    f4: 0.5,
    f8: -41.902782,
    t: "Größe",
    j: { a: [1, "ü"] },
    raw: id,
  });
  expect(Object.values(rows.at(-1))).toEqual(Array.from({ length: columns.length + 2 }, () => null));
});

test("an error in one COPY undoes all, keeps the connection, and does not reach the last statement", async () => {
  const good = new CopyRows(copyTarget("rows", ["t"]));
  good.row().text("kept?");
  const bad = new CopyRows(copyTarget("rows", ["j"]));
  bad.row().jsonb('{"a":"\\u0000"}');
  const after = new CopyRows(copyTarget("rows", ["t"]));
  after.row().text("never");
  await client.query("begin");
  await expect(copyAnd(client, [good, bad, after], "commit")).rejects.toMatchObject({ code: "22P05" });
  await client.query("rollback");
  const { rows } = await client.query("select count(*)::int as count from rows where t in ('kept?', 'never')");
  expect(rows).toEqual([{ count: 0 }]);
});

const countOf = (text: string) => ({
  name: "count_of",
  text: "select count(*)::int as count from rows where t = $1",
  values: [text],
});

test("statements behind COPYs see their rows and may be asked again, also without any", async () => {
  const copy = new CopyRows(copyTarget("rows", ["t"]));
  copy.row().text("counted");
  const counted = async (copies: readonly CopyRows[]) =>
    (await copyAndRun(client, copies, [countOf("counted"), countOf("other")])).map(({ rows }) => rows);
  expect(await counted([copy])).toEqual([[{ count: 1 }], [{ count: 0 }]]);
  expect(await counted([])).toEqual([[{ count: 1 }], [{ count: 0 }]]);
});

test("an error in a COPY or in a statement behind it keeps the connection, and does not reach the commit", async () => {
  const bad = new CopyRows(copyTarget("rows", ["j"]));
  bad.row().jsonb('{"a":"\\u0000"}');
  const good = (): CopyRows => {
    const copy = new CopyRows(copyTarget("rows", ["t"]));
    copy.row().text("undone");
    return copy;
  };
  const commit = { name: "commit", text: "commit" };
  const unparsed = { ...countOf("undone"), name: "count_later" };
  const wrong = { name: "wrong", text: "select 1 / $1::int", values: [0] };
  await client.query("begin");
  await expect(copyAndRun(client, [good(), bad], [unparsed, commit])).rejects.toMatchObject({ code: "22P05" });
  await client.query("rollback");
  await client.query("begin");
  await expect(copyAndRun(client, [good()], [wrong, commit])).rejects.toMatchObject({ code: "22012" });
  await client.query("rollback");
  const [answer] = await copyAndRun(client, [], [unparsed]);
  expect(answer?.rows).toEqual([{ count: 0 }]);
});

test("the binary writer writes a text in pieces, of ASCII and of other letters", () => {
  const text = "x".repeat(5000);
  const writer = new BinaryWriter(8).pieces((own) => own.piece("a").piece("").piece("Zoë 東").piece(text));
  expect(writer.bytes()).toEqual(new BinaryWriter().text(`aZoë 東${text}`).bytes());
});

test("the binary writer sends arrays as parameters", async () => {
  const { rows } = await client.query("select * from unnest($1::text[], $2::int8[], $3::jsonb[]) as n(t, i, j)", [
    binaryArray("text", ["a", null], (writer, text) => writer.text(text)),
    binaryArray("int8", [1, 2], (writer, number) => writer.int8(number)),
    binaryArray("jsonb", ["{}", null], (writer, json) => writer.jsonb(json)),
  ]);
  expect(rows).toEqual([
    { t: "a", i: "1", j: {} },
    { t: null, i: "2", j: null },
  ]);
});

test("the binary writer refuses what is no time or no uuid", () => {
  expect(() => new BinaryWriter().timestamptz(Number.NaN)).toThrow(RangeError);
  expect(() => new BinaryWriter().uuid(Buffer.alloc(15))).toThrow(RangeError);
  expect(() => new BinaryWriter().uuidLatin1("abc")).toThrow(RangeError);
  expect(new BinaryWriter().uuidLatin1(id.toString("latin1")).bytes()).toEqual(new BinaryWriter().uuid(id).bytes());
  expect(() => new BinaryWriter().int2(40_000)).toThrow(RangeError);
});
