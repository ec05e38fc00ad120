import type { Database } from "../db/database.ts";
import { repeat } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import type { Labels, Metrics } from "../lib/metrics.ts";
import { countOpenCommands } from "../resources/commands/command-delivery.ts";
import { countOpenMessages } from "../resources/messages/message-delivery.ts";

/** What waits for devices, of all processes together: every worker shows the same. */
export function observeDeviceWork(db: Database, metrics: Metrics, log: Logger, everyMs: number): () => Promise<void> {
  let commands: ReadonlyMap<string, number> = new Map();
  let messages: ReadonlyMap<string, number> = new Map();
  const seriesOf = (counts: ReadonlyMap<string, number>, states: readonly string[]): (readonly [Labels, number])[] =>
    states.map((status) => [{ status }, counts.get(status) ?? 0] as const);
  metrics.gauge("vigil_commands_open", "Commands waiting or in progress.", () =>
    seriesOf(commands, ["pending", "sending", "sent"]),
  );
  metrics.gauge("vigil_messages_open", "Messages waiting or in progress.", () =>
    seriesOf(messages, ["pending", "processing", "ready", "sending"]),
  );
  return repeat("open commands and messages", everyMs, log, async () => {
    commands = await countOpenCommands(db);
    messages = await countOpenMessages(db);
  });
}
