import type { CommandAnswer } from "../codecs/tracker-message.ts";
import { type Db, onClient } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import {
  type CommandRow,
  commandColumns,
  commandTables,
  isInFlight,
  serialOf,
} from "../resources/commands/command-record.ts";
import { acknowledged, refused, type Settlement, settleCommands } from "../resources/commands/command-settling.ts";
import type { AcceptedPacket, BatchStep } from "./batch-step.ts";

/**
 * Answers of devices end the commands in progress, in the transaction of their packets: what a partner learns about a command is
 * as durable as the answer itself. An answer that fits no command in progress changes nothing.
 */
export const commandAnswers: BatchStep = async (client, packets, rows) => {
  const answers = answersOf(packets);
  if (answers.size === 0) return;
  const db = onClient(client);
  const commands = await db.many<CommandRow & Record<string, unknown>>(sql`
    select ${commandColumns} from ${commandTables}
    where c.device_id = any(${[...answers.keys()].sort()}::uuid[]) and ${isInFlight}
    order by c.device_id for update of c`);
  const settlements: Settlement[] = [];
  for (const command of commands) {
    const { awaited, settlement } = judge(command, answers.get(command.device_id) ?? []);
    if (settlement) settlements.push(settlement);
    else if (awaited.length < (command.awaited?.length ?? 0)) await keepAwaited(db, command, awaited);
  }
  const { outbound } = await settleCommands(db, settlements);
  rows.outbound.push(...outbound);
};

interface ReceivedAnswer {
  answer: CommandAnswer;
  receivedAtMs: number;
}

function answersOf(packets: readonly AcceptedPacket[]): Map<string, ReceivedAnswer[]> {
  const answers = new Map<string, ReceivedAnswer[]>();
  for (const { hold, messages, receivedAtMs } of packets) {
    for (const answer of messages) {
      if (answer.kind !== "command_answer") continue;
      const others = answers.get(hold.device.id);
      if (others) others.push({ answer, receivedAtMs });
      else answers.set(hold.device.id, [{ answer, receivedAtMs }]);
    }
  }
  return answers;
}

interface Verdict {
  /** Words that are still missing. */
  awaited: NonNullable<CommandRow["awaited"]>;
  settlement: Settlement | undefined;
}

/** Pure: what the answers, in their order, make of a command in progress. */
export function judge(command: CommandRow, received: readonly ReceivedAnswer[]): Verdict {
  let awaited = command.awaited ?? [];
  const hasWords = awaited.length > 0;
  for (const { answer, receivedAtMs } of received) {
    // The serial is echoed by some protocols; others, and some devices, repeat the word alone.
    if (answer.serial !== null && answer.serial !== serialOf(command)) continue;
    const expected = awaited.find(({ word }) => word === answer.word);
    if (hasWords && !expected) continue;
    const [echo = ""] = answer.fields;
    const at = new Date(receivedAtMs);
    const isOtherValue = expected?.echo !== undefined && echo !== "" && echo !== expected.echo;
    if (answer.isAccepted === false || isOtherValue) {
      return { awaited, settlement: refused(command, at, answer.refusal ?? "device_rejected") };
    }
    awaited = awaited.filter((one) => one !== expected);
    if (awaited.length === 0) return { awaited, settlement: acknowledged(command, at) };
  }
  return { awaited, settlement: undefined };
}

const keepAwaited = (
  db: Db,
  { organization_id, device_id, id }: CommandRow,
  awaited: Verdict["awaited"],
): Promise<number> =>
  db.run`
    update commands set awaited = ${JSON.stringify(awaited)}
    where organization_id = ${organization_id} and device_id = ${device_id} and id = ${id}`;
