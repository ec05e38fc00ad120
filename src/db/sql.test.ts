import { describe, expect, it } from "vitest";
import { rawSql, StatementNames, sql, withNaming } from "./sql.ts";

const shape = (n: number) => rawSql(`select ${n}`);

describe("names of statements", () => {
  it("are the same for the same text, whatever its values are", () => {
    const names = new StatementNames();
    const [first, second] = [names.compile(sql`select ${1}`), names.compile(sql`select ${2}`)];
    expect(first.name).toBeDefined();
    expect(second.name).toBe(first.name);
  });

  it("are bounded for shapes that callers choose, and left for those of the program", () => {
    const names = new StatementNames(1000, 3);
    const chosen = Array.from({ length: 10 }, (_, n) => names.compile(withNaming("bounded", shape(n))).name);
    expect(chosen.filter((name) => name !== undefined)).toHaveLength(3);
    // What has a name keeps it.
    expect(names.compile(withNaming("bounded", shape(0))).name).toBe(chosen[0]);
    expect(names.compile(shape(100)).name).toBeDefined();
  });

  it("are never given to what has too many shapes", () => {
    expect(new StatementNames().compile(withNaming("never", shape(1))).name).toBeUndefined();
  });

  it("end at a limit", () => {
    const names = new StatementNames(2);
    expect([1, 2, 3].map((n) => names.compile(shape(n)).name !== undefined)).toEqual([true, true, false]);
  });
});
