import { describe, expect, it } from "vitest";
import { columnsOf, table } from "./rows.ts";
import { namedStatement, type Sql, sql } from "./sql.ts";

interface Place {
  id: string;
  label: string;
  note: string | null;
  revision: number;
}
const places = table<Place>("places", "p");
const statement = (part: Sql) => {
  const { text, values } = namedStatement("test", part);
  return [text, values];
};

describe("statements from rows", () => {
  it("insert each column with its value as a parameter", () => {
    expect(statement(places.insert({ id: "1", label: "Home", note: undefined, revision: sql`default` }))).toEqual([
      "insert into places as p (id, label, note, revision) values ($1, $2, $3, default)",
      ["1", "Home", null],
    ]);
  });

  it("assign the columns that are given", () => {
    expect(statement(places.assign({ label: "Work", revision: sql`revision + ${2}` }))).toEqual([
      "label = $1, revision = revision + $2",
      ["Work", 2],
    ]);
  });

  it("do not compile without a column, with a foreign one or with a value of another type", () => {
    // @ts-expect-error revision is missing
    places.insert({ id: "1", label: "Home", note: null });
    // @ts-expect-error color is no column, also when it comes in a spread
    places.insert({ ...{ id: "1", label: "Home", note: null, revision: 1 }, color: "red" });
    // @ts-expect-error a label is text
    places.assign({ label: 1 });
    // @ts-expect-error color is no column
    places.assign({ color: "red" });
    // @ts-expect-error a label cannot be left open
    places.assign({ label: undefined });
  });

  it("name columns by the alias of their table", () => {
    expect(statement(columnsOf("p", ["id", "label"]))).toEqual(["p.id, p.label", []]);
    expect(() => columnsOf("p", ["id; drop table places"])).toThrow();
  });
});
