import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import {
  type BackedUpFile,
  checksumPath,
  clusterFolder,
  DamagedBackup,
  isPlainPath,
  type Manifest,
  manifestPath,
  parseManifest,
} from "./manifest.ts";
import { readTar, type TarEntry, TarError } from "./tar.ts";

/** What is done with the database's files while the archive is read; paths are those below the cluster. */
interface Visitor {
  folder(path: string): Promise<void>;
  file(path: string, content: AsyncIterable<Buffer>): Promise<void>;
}

export type OnBytes = (done: number) => void;

/** Reads all of a backup and holds every file against the manifest. Throws DamagedBackup. */
export function verifyBackup(file: string, onBytes?: OnBytes): Promise<Manifest> {
  const readAll = async (_: string, content: AsyncIterable<Buffer>): Promise<void> => {
    for await (const _chunk of content);
  };
  return visitBackup(file, { folder: async () => undefined, file: readAll }, onBytes);
}

/** The same, and writes the database into an empty folder. After a throw the folder is of no use. */
export function unpackBackup(file: string, target: string, onBytes?: OnBytes): Promise<Manifest> {
  return visitBackup(
    file,
    {
      folder: async (path) => void (await mkdir(join(target, path), { recursive: true, mode: 0o700 })),
      file: async (path, content) => {
        const handle = await open(join(target, path), "wx", 0o600);
        try {
          for await (const chunk of content) await handle.writeFile(chunk);
        } finally {
          await handle.close();
        }
      },
    },
    onBytes,
  );
}

async function visitBackup(file: string, visitor: Visitor, onBytes: OnBytes = () => undefined): Promise<Manifest> {
  const packed = createReadStream(file, { highWaterMark: 1 << 18 });
  const unpacked = createGunzip();
  packed.on("error", (error) => unpacked.destroy(error));
  try {
    return await visitEntries(readTar(packed.pipe(unpacked)), visitor, () => onBytes(packed.bytesRead));
  } catch (error) {
    throw explainDamage(error);
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

async function visitEntries(entries: AsyncIterable<TarEntry>, visitor: Visitor, onEntry: () => void) {
  const found = new Map<string, BackedUpFile>();
  const ends = new Map<string, Buffer>();
  for await (const { path, size, content } of entries) {
    onEntry();
    if (!isPlainPath(path)) throw new DamagedBackup("it has a name that no backup has");
    const [top, ...below] = path.split("/");
    if (size !== undefined && (path === manifestPath || path === checksumPath)) {
      ends.set(path, await collect(content));
      continue;
    }
    if (top !== clusterFolder || ends.size > 0 || found.has(path)) {
      throw new DamagedBackup("it has files that no backup has");
    }
    if (size === undefined) {
      await visitor.folder(below.join("/"));
      continue;
    }
    const hash = createHash("sha256");
    await visitor.file(below.join("/"), hashing(content, hash));
    found.set(path, { path, size, sha256: hash.digest("hex") });
  }
  const manifest = parseManifest(ends.get(manifestPath) ?? Buffer.alloc(0), ends.get(checksumPath));
  compare(manifest, found);
  return manifest;
}

function compare(manifest: Manifest, found: ReadonlyMap<string, BackedUpFile>): void {
  for (const { path, size, sha256 } of manifest.files) {
    const one = found.get(path);
    if (one?.size !== size || one.sha256 !== sha256) throw new DamagedBackup(`the file ${path} in it is damaged`);
  }
  if (found.size !== manifest.files.length) throw new DamagedBackup("it has files that its manifest does not name");
}

async function* hashing(content: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>) {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

async function collect(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Errors of zlib have codes like Z_DATA_ERROR; a file that ends early is Z_BUF_ERROR. */
function explainDamage(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (error instanceof TarError) return new DamagedBackup(error.message, { cause: error });
  if (code === "Z_BUF_ERROR") return new DamagedBackup("its end is missing", { cause: error });
  if (code.startsWith("Z_")) return new DamagedBackup("it cannot be decompressed", { cause: error });
  return error;
}
