import { describe, expect, it } from "vitest";
import { readTar, TarError, tarEnd, tarHeader, tarPadding } from "./tar.ts";
import { walFileNames } from "./wal-names.ts";

const content = Buffer.from("x".repeat(700));
const archive = Buffer.concat([
  tarHeader("cluster", undefined),
  tarHeader("cluster/PG_VERSION", content.length),
  content,
  tarPadding(content.length),
  tarHeader("cluster/empty", 0),
  tarEnd(),
]);

async function read(bytes: Buffer, chunkBytes = bytes.length) {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const found: [string, number | undefined, string][] = [];
  for await (const { path, size, content: pieces } of readTar(chunks())) {
    let text = "";
    for await (const piece of pieces) text += piece.toString();
    found.push([path, size, text]);
  }
  return found;
}

describe("an archive", () => {
  it.each([1, 7, 512, 100_000])("is read in pieces of %i bytes", async (chunkBytes) => {
    expect(await read(archive, chunkBytes)).toEqual([
      ["cluster", undefined, ""],
      ["cluster/PG_VERSION", 700, content.toString()],
      ["cluster/empty", 0, ""],
    ]);
  });

  it("is refused wherever it is cut", async () => {
    for (let end = 0; end < archive.length; end += 100) {
      await expect(read(archive.subarray(0, end))).rejects.toThrow(TarError);
    }
  });

  it("is refused with a damaged header or with bytes after its end", async () => {
    const damaged = Buffer.from(archive);
    damaged[3] = 0x41;
    await expect(read(damaged)).rejects.toThrow(TarError);
    await expect(read(Buffer.concat([archive, Buffer.from("more")]))).rejects.toThrow(TarError);
  });

  it("takes no name or size that the format cannot hold", () => {
    expect(() => tarHeader("a".repeat(101), 1)).toThrow(TarError);
    expect(() => tarHeader("a", 8 ** 11)).toThrow(TarError);
  });
});

describe("the files of WAL", () => {
  const segment = 16 * 1024 ** 2;

  it("are those from the first byte to the last, over the end of a number", () => {
    expect(walFileNames("00000001", "0/2000028", "0/2000120", segment)).toEqual(["000000010000000000000002"]);
    expect(walFileNames("00000001", "0/FE000028", "1/00000100", segment)).toEqual([
      "0000000100000000000000FE",
      "0000000100000000000000FF",
      "000000010000000100000000",
    ]);
  });

  it("end before a file that begins at the end", () => {
    expect(walFileNames("00000001", "0/2000028", "0/3000000", segment)).toEqual(["000000010000000000000002"]);
  });
});
