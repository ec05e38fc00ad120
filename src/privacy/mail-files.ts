import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

/** Soft line breaks of quoted-printable: they may stand within an address. */
const softBreak = /=\r?\n/g;

/**
 * Files of the outbox folder, which holds mails where no mail server is set up: those of the given mails, and those that
 * contain one of the texts.
 */
export async function findMailFiles(
  folder: string,
  { texts, mailIds }: { texts: readonly string[]; mailIds: ReadonlySet<string> },
): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found: string[] = [];
  for (const name of names) {
    const id = /^\.?([0-9a-f-]{36})\.(?:eml|\d+\.tmp)$/.exec(name)?.[1];
    if (id === undefined) continue;
    const path = join(folder, name);
    if (mailIds.has(id) || (await containsAny(path, texts))) found.push(path);
  }
  return found;
}

async function containsAny(path: string, texts: readonly string[]): Promise<boolean> {
  const content = (await readFile(path, "utf8")).replace(softBreak, "").toLowerCase();
  return texts.some((text) => content.includes(text.toLowerCase()));
}

export async function eraseMailFiles(folder: string, search: Parameters<typeof findMailFiles>[1]): Promise<number> {
  const files = await findMailFiles(folder, search);
  for (const file of files) await rm(file, { force: true });
  return files.length;
}
