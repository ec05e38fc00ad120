/**
 * Puts a restored cluster in the place of the one that is there. Two renames cannot be one step, and a start between them would
 * find no cluster and make an empty one. So the decision is written down first, and whoever next starts the server carries it out.
 */
import { existsSync, lchownSync, readFileSync, writeFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Layout } from "./embedded-layout.ts";

interface Replacement {
  /** The new cluster, where it was made. */
  from: string;
  to: string;
  /** Where the old one goes. */
  previous: string;
}

const journalIn = (root: string): string => join(root, "replacement.json");

/** The caller has the start lock, and no server runs on either cluster. */
export async function replaceCluster(layout: Layout, replacement: Replacement): Promise<void> {
  await writeDurably(layout, journalIn(layout.root), JSON.stringify(replacement));
  await finishReplacement(layout);
}

/** The file is there in full or not at all, also after a loss of power, and belongs to the server's user. */
export async function writeDurably({ account }: Layout, file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  if (account) lchownSync(draft, account.uid, account.gid);
  await syncPath(draft);
  await rename(draft, file);
  await syncPath(dirname(file));
}

/** Carries out what was decided, from whichever step it had come to. The caller has the start lock. */
export async function finishReplacement({ root }: Layout): Promise<void> {
  if (!existsSync(journalIn(root))) return;
  const { from, to, previous } = JSON.parse(readFileSync(journalIn(root), "utf8")) as Replacement;
  if (existsSync(from)) {
    if (existsSync(to)) await rename(to, previous);
    await rename(from, to);
    await syncPath(dirname(to));
  }
  await rm(journalIn(root));
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
