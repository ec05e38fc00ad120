import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { randomToken } from "../lib/ids.ts";
import { type BackedUpFile, checksumPath, type Manifest, manifestPath, sha256 } from "./manifest.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** Twice as fast as the default on pages of a database, for files a few percent larger. */
const gzipLevel = 3;

/** One thing to back up. The content has exactly `size` bytes. */
export type Source =
  | { kind: "folder"; path: string }
  | { kind: "file"; path: string; size: number; content: AsyncIterable<Buffer> };

type Facts = Omit<Manifest, "files" | "total_bytes">;

/**
 * Writes the archive beside its place and gives it its name when all of it is on the disk: whatever happens before, there is no
 * file of that name. `sources` answers what only its end can know.
 */
export async function writeArchive(file: string, sources: AsyncGenerator<Source, Facts>): Promise<Manifest> {
  const draft = `${file}.part-${randomToken(6)}`;
  try {
    let manifest: Manifest | undefined;
    const bytes = archiveBytes(sources, (written) => {
      manifest = written;
    });
    const target = createWriteStream(draft, { flags: "wx", mode: 0o600 });
    await pipeline(Readable.from(bytes, { objectMode: false }), createGzip({ level: gzipLevel }), target);
    await syncPath(draft);
    await rename(draft, file);
    await syncPath(dirname(file));
    return manifest as unknown as Manifest;
  } finally {
    await rm(draft, { force: true });
  }
}

async function* archiveBytes(
  sources: AsyncGenerator<Source, Facts>,
  onManifest: (manifest: Manifest) => void,
): AsyncGenerator<Buffer> {
  const files: BackedUpFile[] = [];
  let next = await sources.next();
  for (; !next.done; next = await sources.next()) {
    const source = next.value;
    if (source.kind === "folder") yield tarHeader(source.path, undefined);
    else files.push(yield* fileBytes(source));
  }
  const total_bytes = files.reduce((sum, { size }) => sum + size, 0);
  const manifest = { ...next.value, total_bytes, files };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  yield* smallFile(manifestPath, text);
  yield* smallFile(checksumPath, Buffer.from(`${sha256(text)}\n`));
  yield tarEnd();
  onManifest(manifest);
}

async function* fileBytes(source: Extract<Source, { kind: "file" }>): AsyncGenerator<Buffer, BackedUpFile> {
  const { path, size, content } = source;
  const hash = createHash("sha256");
  yield tarHeader(path, size);
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  yield tarPadding(size);
  return { path, size, sha256: hash.digest("hex") };
}

function* smallFile(path: string, bytes: Buffer): Generator<Buffer> {
  yield tarHeader(path, bytes.length);
  yield bytes;
  yield tarPadding(bytes.length);
}

/** After this a file, or the names in a folder, survive a loss of power. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
