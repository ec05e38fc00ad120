import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findArchiveFolder, followWal, listArchive, listUnneeded } from "./wal-archive.ts";
import { nextWalFile } from "./wal-names.ts";

const wal = (number: number, timeline = 1): string =>
  `${String(timeline).padStart(8, "0")}00000000${number.toString(16).toUpperCase().padStart(8, "0")}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vigil-wal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("counts WAL files across the middle number", () => {
  expect(nextWalFile(wal(3), 1 << 24)).toBe(wal(4));
  expect(nextWalFile("0000000100000000000000FF", 1 << 24)).toBe("000000010000000100000000");
});

it("follows the WAL after a backup up to its end", () => {
  const names = [wal(2), wal(3), wal(4), wal(5), "00000002.history", `${wal(3)}.00000028.backup`];
  expect(followWal(names, "00000001", "0/3000100")).toEqual({ last: wal(5), missing: undefined });
  expect(followWal([wal(2), wal(3)], "00000001", "0/3000100")).toEqual({ last: undefined, missing: undefined });
  // A backup that ends with the last byte of a file needs the next one.
  expect(followWal([wal(4)], "00000001", "0/4000000")).toEqual({ last: wal(4), missing: undefined });
});

it("names the first WAL file that is missing", () => {
  expect(followWal([wal(4), wal(6)], "00000001", "0/3000100")).toEqual({ last: wal(4), missing: wal(5) });
  expect(followWal([wal(5)], "00000001", "0/3000100")).toEqual({ last: undefined, missing: wal(4) });
});

it("keeps to the timeline of the backup", () => {
  expect(followWal([wal(4), wal(5, 2)], "00000001", "0/3000100")).toEqual({ last: wal(4), missing: undefined });
});

it("finds what no backup needs any more", () => {
  const names = [wal(2), wal(3), `${wal(3)}.00000028.backup`, wal(4), wal(4, 2), "00000002.history"];
  expect(listUnneeded(names, wal(4))).toEqual([wal(2), wal(3), `${wal(3)}.00000028.backup`]);
});

it("takes the archive, or the folder of the one database in it", () => {
  mkdirSync(join(folder, "line"));
  writeFileSync(join(folder, "line", `${wal(4)}.gz`), "");
  writeFileSync(join(folder, "line", `.${wal(5)}.312`), "");
  expect(findArchiveFolder(folder, "line")).toBe(join(folder, "line"));
  expect(findArchiveFolder(join(folder, "line"), "line")).toBe(join(folder, "line"));
  expect(findArchiveFolder(join(folder, "line"), null)).toBe(join(folder, "line"));
  expect(findArchiveFolder(folder, "other")).toBeUndefined();
  expect(listArchive(join(folder, "line"))).toEqual([wal(4)]);
});
