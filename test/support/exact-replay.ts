import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { newUuid, uuidV7Floor } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { readLog } from "../../src/outbound/replay-store.ts";
import { makeIntegration, makeOrganization } from "./outbound-world.ts";

export interface WriterOptions {
  url: string;
  clockOffsetSeconds: number;
  organizationIds: string[];
  transactions: number;
  holdMs: number;
}

export interface Follower {
  /** Ids in the order in which a reader with a cursor has met them. */
  seen: string[];
  /** Ids of the table at the end. */
  stored: string[];
  polls: number;
}

const script = fileURLToPath(new URL("outbound-writer.ts", import.meta.url));

function runWriters(options: WriterOptions): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((done, fail) => {
    child.on("exit", (code) => (code === 0 ? done() : fail(new Error(`writers ended with ${code}: ${stderr}`))));
  });
}

/**
 * Eight writers in two processes, one of which has its clock a minute behind, write to the logs of four integrations of two
 * organizations; a reader per integration follows its log by the cursor, as a partner does.
 */
export async function followWhileWriting(url: string, transactions: number, holdMs: number): Promise<Follower[]> {
  const db = openDatabase({ connection: { connectionString: url }, log: makeLogger("silent") });
  try {
    const organizationIds = [newUuid(), newUuid()];
    const owners: { organizationId: string; integrationId: string }[] = [];
    for (const organizationId of organizationIds) {
      await makeOrganization(db, organizationId, makeClock().now());
      for (let n = 0; n < 2; n++) {
        owners.push({ organizationId, integrationId: await makeIntegration(db, organizationId, makeClock().now()) });
      }
    }
    let isWriting = true;
    const writing = Promise.all(
      [0, -60].map((clockOffsetSeconds) =>
        runWriters({ url, clockOffsetSeconds, organizationIds, transactions, holdMs }),
      ),
    ).finally(() => {
      isWriting = false;
    });
    writing.catch(() => undefined);
    const followers = await Promise.all(owners.map((owner) => follow(db, owner, () => isWriting)));
    await writing;
    return followers;
  } finally {
    await db.close();
  }
}

async function follow(
  db: Database,
  owner: { organizationId: string; integrationId: string },
  isWriting: () => boolean,
): Promise<Follower> {
  const seen: string[] = [];
  let afterId = uuidV7Floor(0);
  let polls = 0;
  for (;;) {
    // Asked before the page is read: an empty page read after the last commit is the end.
    const mayGrow = isWriting();
    const range = { afterId, types: ["alarm.sos"], deviceUids: [], search: undefined, limit: 7 } as const;
    const { rows } = await readLog(db, owner, range);
    polls++;
    seen.push(...rows.map(({ id }) => id));
    afterId = rows.at(-1)?.id ?? afterId;
    if (rows.length > 0) continue;
    if (!mayGrow) break;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const stored = await db.many<{ id: string }>`
    select id from outbound_events where integration_id = ${owner.integrationId} order by id`;
  return { seen, stored: stored.map(({ id }) => id), polls };
}
