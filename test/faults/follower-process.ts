import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createClient } from "../../client/src/vigil-client.ts";

/** What a partner's program stores: one line per page, with the ids of its events and the cursor, written at once. */
export interface StoredPage {
  cursor: string;
  ids: string[];
}

export interface FollowerOptions {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  file: string;
}

/** A line without an end was being written when the program was killed: it does not count. */
export function readPages(file: string): StoredPage[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as StoredPage]));
}

async function run({ file, ...client }: FollowerOptions): Promise<void> {
  const follower = createClient(client).follow({
    pollMs: 100,
    loadCursor: () => {
      const pages = readPages(file);
      writeFileSync(file, pages.map((page) => `${JSON.stringify(page)}\n`).join(""));
      return pages.at(-1)?.cursor;
    },
    handleBatch: (events, cursor) => {
      const opened = openSync(file, "a");
      appendFileSync(opened, `${JSON.stringify({ cursor, ids: events.map(({ id }) => id) })}\n`);
      fsyncSync(opened);
      closeSync(opened);
    },
  });
  await follower.finished;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] as string));
