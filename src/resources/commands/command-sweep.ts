import type { Database, Tx } from "../../db/database.ts";
import type { NodeWatch } from "../../db/node-watch.ts";
import { sql } from "../../db/sql.ts";
import type { Clock } from "../../lib/clock.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import { noOutcomes } from "../../outbox/outcome-metrics.ts";
import { wakeDevice } from "../devices/device-sessions.ts";
import { type CommandRow, commandColumns, commandTables } from "./command-record.ts";
import { timeOutCommands } from "./command-timeouts.ts";
import { linkReading, noReading, postponeReading } from "./measurement-results.ts";
import { adoptOrphans, renewAdopted } from "./orphaned-commands.ts";

const batchSize = 200;
/** So long the gateway that holds the connection may take for what is its part, before the worker gives the command up. */
const gatewayGraceMs = 15_000;

/** So long a measurement waits for its reading to be looked for again while the node that has it is away. */
const awayMs = 10_000;

type Nodes = Pick<NodeWatch, "findAway" | "noteFailure">;

/**
 * The worker's part: commands that expire, waits that end while the device is not connected, readings that never came. Any
 * number of workers may sweep, with and without gateways.
 */
export function makeCommandSweep(
  db: Database,
  clock: Clock,
  outcomes = noOutcomes,
  nodes?: Nodes,
): () => Promise<void> {
  let isFirst = true;
  return async () => {
    // Before anything is given up: what a process that died has left waits again.
    await adoptOrphans(db, clock.now());
    if (isFirst) await renewAdopted(db, clock.now());
    isFirst = false;
    for (;;) {
      const now = clock.now();
      const { count, entries } = await db
        .transaction((tx) => sweepDue(tx, now, nodes))
        .catch(async (error: unknown) => {
          await nodes?.noteFailure(error);
          throw error;
        });
      outcomes.countOutcomes(entries);
      if (count < batchSize) return;
    }
  };
}

async function sweepDue(
  tx: Tx,
  now: Date,
  nodes: Nodes | undefined,
): Promise<{ count: number; entries: OutboundEntry[] }> {
  // The gateway writes again to a connected device, and ends the waits of those it holds.
  const rows = await tx.many<CommandRow & Record<string, unknown>>(sql`
    select ${commandColumns} from ${commandTables}
    where c.due_at <= ${now} and (c.status in ('pending', 'ack_ok')
      or c.due_at <= ${new Date(now.getTime() - gatewayGraceMs)}
      or not exists (select from device_sessions s where s.device_id = c.device_id and s.disconnected_at is null))
    order by c.due_at limit ${batchSize} for update of c skip locked`);
  const acknowledged = rows.filter((row): row is Acknowledged & Record<string, unknown> => row.status === "ack_ok");
  const away = await nodes?.findAway(acknowledged.map(({ device_id }) => device_id));
  for (const row of acknowledged) {
    if (away?.has(row.device_id)) await postponeReading(tx, row, new Date(now.getTime() + awayMs));
    else if (!(await linkReading(tx, row))) await noReading(tx, row);
  }
  const over = rows.filter(({ status }) => status !== "ack_ok");
  const outbound = await timeOutCommands(tx, over, now);
  // The next command of the device may go out.
  for (const { organization_id, device_id } of over) await wakeDevice(tx, organization_id, device_id);
  await appendOutbound(tx, outbound, now.getTime());
  return { count: rows.length, entries: outbound };
}

type Acknowledged = CommandRow & { acked_at: Date };
