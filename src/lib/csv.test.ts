import { describe, expect, it } from "vitest";
import { csvLine, parseCsv, withoutGuard } from "./csv.ts";

describe("a comma separated text", () => {
  it("has rows with the lines they begin on, whatever ends them", () => {
    expect(parseCsv("a,b\r\n1,2\n\n3,4")).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["1", "2"] },
      { line: 4, cells: ["3", "4"] },
    ]);
  });

  it("keeps commas, quotes and line ends of quoted cells", () => {
    expect(parseCsv('a,"b, ""c""\nd",\ne,f,g\n')).toEqual([
      { line: 1, cells: ["a", 'b, "c"\nd', ""] },
      { line: 3, cells: ["e", "f", "g"] },
    ]);
  });

  it("may begin with a byte order mark and may be empty", () => {
    expect(parseCsv("\ufeffuid\n1")[0]).toEqual({ line: 1, cells: ["uid"] });
    expect(parseCsv("")).toEqual([]);
  });

  it("is written so that it is read back the same, and that no spreadsheet runs a cell of it", () => {
    const cells = ["plain", 'a "b", c\nd', "", "=1+1", "-5", "@x", "'quoted", " blank "];
    const line = csvLine(cells);
    expect(line.startsWith('plain,"a ""b"", c\nd",,\'=1+1,\'-5,\'@x,')).toBe(true);
    expect(parseCsv(line)[0]?.cells.map(withoutGuard)).toEqual(cells);
  });
});

describe("a line for spreadsheets", () => {
  it("quotes what needs it, and reads as it was written", () => {
    const cells = ["a", 'b, "c"', "d\ne", ""];
    expect(csvLine(cells)).toBe('a,"b, ""c""","d\ne",\r\n');
    expect(parseCsv(csvLine(cells))).toEqual([{ line: 1, cells }]);
  });

  it("holds no formula", () => {
    const cells = ['=HYPERLINK("x")', "+1", "-1", "@x", "\tx", "1-1"];
    expect(csvLine(cells)).toBe(`"'=HYPERLINK(""x"")",'+1,'-1,'@x,'\tx,1-1\r\n`);
  });
});
