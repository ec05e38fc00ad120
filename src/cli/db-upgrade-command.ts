import type { Client } from "pg";
import { type Database, openDatabase } from "../db/database.ts";
import { migrate, readSchemaVersion } from "../db/migrate.ts";
import { beginMove, finishMove, isMoveFrom, type MovedTable, moveRows, readDatabaseMark } from "../db/move-database.ts";
import type { EmbeddedConnection } from "../embedded/embedded-server.ts";
import { discardOldClusters, type OpenTarget, upgradeEmbedded } from "../embedded/embedded-upgrade.ts";
import { type Command, type CommandContext, CommandError } from "./command.ts";
import { record } from "./output.ts";

async function withClient<T>(
  connection: EmbeddedConnection,
  { log }: CommandContext,
  work: (client: Client, db: Database) => Promise<T>,
): Promise<T> {
  const db = openDatabase({ connection, log, poolSize: 2, laneSize: 1 });
  try {
    const client = await db.connect();
    try {
      // The snapshot stays open for as long as the move takes.
      await client.query("set idle_in_transaction_session_timeout = 0");
      return await work(client, db);
    } finally {
      await client.end();
    }
  } finally {
    await db.close();
  }
}

/** Into the new cluster that an earlier attempt left, if it fits; else into an empty one. */
async function move(
  context: CommandContext,
  source: Client,
  hasTarget: boolean,
  openTarget: OpenTarget,
): Promise<MovedTable[]> {
  const schema = await readSchemaVersion(source);
  if (schema === 0) throw new CommandError("the old database has no schema of Vigil: there is nothing to move");
  const mark = await readDatabaseMark(source);
  const attempt = (isFresh: boolean): Promise<MovedTable[] | undefined> =>
    openTarget(isFresh, (connection) =>
      withClient(connection, context, async (target, db) => {
        if (await isMoveFrom(target, mark)) {
          if (!isFresh) context.note("vigil: going on with the upgrade that was interrupted");
        } else {
          if (!isFresh) return undefined;
          await migrate(db, context.clock, undefined, undefined, schema);
          await beginMove(source, target, mark);
        }
        const onTable = (table: string, done: number, total: number): void =>
          context.note(`vigil: table ${done + 1} of ${total}: ${table}`);
        const moved = await moveRows({ source, target, onTable });
        await migrate(db, context.clock);
        await finishMove(target);
        return moved;
      }),
    );
  const continued = hasTarget ? await attempt(false) : undefined;
  return continued ?? ((await attempt(true)) as MovedTable[]);
}

async function discard(context: CommandContext): Promise<number> {
  const removed = await discardOldClusters(context.config.dataDir);
  const text = removed.length === 0 ? "There is no old database to remove." : `Removed ${removed.join(", ")}.`;
  context.print({ removed }, text);
  return 0;
}

const upgrade: Command = {
  path: ["db", "upgrade"],
  summary: "Move an embedded database of an older PostgreSQL to the one that this Vigil brings",
  positionals: [],
  options: [
    { name: "old-bin", value: "DIR", summary: "folder with the programs of the PostgreSQL that made the database" },
    { name: "discard-old", summary: "only remove the old database that an upgrade has kept" },
  ],
  examples: [
    "vigil db upgrade --data-dir /var/lib/vigil --old-bin /usr/lib/postgresql/15/bin",
    "vigil db upgrade --data-dir /var/lib/vigil --discard-old",
  ],
  next: ["vigil doctor", "vigil start", "vigil db upgrade --discard-old    (when you no longer need the old database)"],
  run: async (context) => {
    const { args, config, log } = context;
    if (config.databaseUrl !== undefined) {
      throw new CommandError("DATABASE_URL names an external server: upgrade it as its own documentation says");
    }
    if (args.has("discard-old")) return discard(context);
    const { from, to, result, previous } = await upgradeEmbedded({
      dataDir: config.dataDir,
      log,
      oldBin: args.value("old-bin"),
      move: ({ source, hasTarget, openTarget }) =>
        withClient(source, context, (client) => move(context, client, hasTarget, openTarget)),
    });
    if (result === undefined) {
      context.print({ from, to, upgraded: false }, `The database is of PostgreSQL ${to} already: nothing to do.`);
      return 0;
    }
    const rows = result.reduce((sum, table) => sum + table.rows, 0);
    const document = { from, to, upgraded: true, tables: result.length, rows, previous };
    const kept = `The old database is kept in ${previous}; "vigil db upgrade --discard-old" removes it.`;
    context.print(document, `Moved the database to PostgreSQL ${to}.\n\n${record(document)}\n\n${kept}`);
    return 0;
  },
};

export const dbUpgradeCommands: readonly Command[] = [upgrade];
