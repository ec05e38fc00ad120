import { open, rename, rm } from "node:fs/promises";
import type { Db } from "../db/database.ts";
import { ZipFile } from "../lib/zip-file.ts";
import { deviceKinds, readRecordings } from "./device-kinds.ts";
import type { HeldDevice } from "./device-tables.ts";
import { type ExportedPerson, type Lines, personKinds } from "./person-kinds.ts";

export interface ExportOptions {
  db: Db;
  person: ExportedPerson;
  devices: readonly HeldDevice[];
  now: Date;
  /** What the manifest says of the export, beside its counts. */
  about: Readonly<Record<string, unknown>>;
  onRows(total: number): void;
}

/**
 * Writes all that is held of a person and of their devices as a ZIP archive: a file of JSON lines for each kind, the recordings,
 * and a manifest. The file gets its name when it is whole. Returns the number of rows by kind.
 */
export async function writeExport(path: string, options: ExportOptions): Promise<Record<string, number>> {
  const draft = `${path}.part`;
  const file = await open(draft, "w", 0o600);
  try {
    const counts = await writeKinds(new ZipFile(file), options);
    await file.sync();
    await file.close();
    await rename(draft, path);
    return counts;
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
}

async function writeKinds(zip: ZipFile, options: ExportOptions): Promise<Record<string, number>> {
  const { db, person, devices, now, about, onRows } = options;
  const counts: Record<string, number> = {};
  let total = 0;
  const count = (kind: string, rows: number): void => {
    counts[kind] = (counts[kind] ?? 0) + rows;
    total += rows;
    onRows(total);
  };
  for (const [kind, lines] of [...personKinds(db, person, devices), ...deviceKinds(db, devices)]) {
    const bytes = asBytes(lines, (rows) => count(kind, rows));
    const first = await bytes.next();
    if (first.done) continue;
    await zip.add(`${kind}.jsonl`, startingWith(first.value, bytes), { modifiedAt: now });
  }
  for (const device of devices) {
    for await (const { name, bytes } of readRecordings(db, device)) {
      await zip.add(name, [bytes], { modifiedAt: now, isCompressed: true });
      count("recordings", 1);
    }
  }
  const manifest = `${JSON.stringify({ ...about, created_at: now.toISOString(), rows: counts }, null, 2)}\n`;
  await zip.add("manifest.json", [Buffer.from(manifest)], { modifiedAt: now });
  await zip.finish();
  return counts;
}

async function* asBytes(lines: Lines, onRows: (rows: number) => void): AsyncGenerator<Buffer> {
  for await (const page of lines) {
    if (page.length === 0) continue;
    onRows(page.length);
    yield Buffer.from(`${page.join("\n")}\n`);
  }
}

async function* startingWith(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
