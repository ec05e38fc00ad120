import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readZip } from "../../test/support/zip-reader.ts";
import { ZipFile, type ZipOptions } from "./zip-file.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vigil-zip-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const modifiedAt = new Date("2026-11-18T05:06:08Z");
const text = Buffer.from("one line of many\n".repeat(10_000));
const sound = Buffer.from([1, 2, 3, 250]);

async function write(name: string, options?: ZipOptions): Promise<Buffer> {
  const path = join(folder, name);
  const file = await open(path, "w");
  const zip = new ZipFile(file, options);
  await zip.add("lines.jsonl", [text.subarray(0, 7), text.subarray(7)], { modifiedAt });
  await zip.add("Töne/a.amr", [sound], { modifiedAt, isCompressed: true });
  await zip.add("empty", [], { modifiedAt });
  await zip.finish();
  await file.close();
  return readFile(path);
}

describe("a ZIP file", () => {
  it("holds what was added, compressed or as it is", async () => {
    const archive = await write("plain.zip");
    const entries = readZip(archive);
    expect([...entries.keys()]).toEqual(["lines.jsonl", "Töne/a.amr", "empty"]);
    expect(entries.get("lines.jsonl")?.equals(text)).toBe(true);
    expect(entries.get("Töne/a.amr")).toEqual(sound);
    expect(archive.length).toBeLessThan(text.length / 10);
    expect(archive.includes(sound)).toBe(true);
  });

  it("tells the sizes in the header of each entry, for readers that come from the start", async () => {
    const archive = await write("sizes.zip");
    expect(archive.readUInt32LE(22)).toBe(text.length);
    expect(archive.readUInt16LE(6) & 8).toBe(0);
  });

  it("writes large sizes and offsets with eight bytes", async () => {
    const entries = readZip(await write("large.zip", { zip64From: 4 }));
    expect(entries.get("lines.jsonl")?.equals(text)).toBe(true);
    expect(entries.get("Töne/a.amr")).toEqual(sound);
    expect(entries.get("empty")).toEqual(Buffer.alloc(0));
  });
});
