import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import type { PersonPrincipal } from "../../http/principal.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import {
  commandFor,
  commandTables,
  type VisibleCommandRow,
  visibleColumns,
} from "../../resources/commands/command-record.ts";
import {
  type EventDetailRow,
  eventDetailColumns,
  eventTables,
  toEvent,
  toEventDetail,
  withoutAddresses,
} from "../../resources/events/event-record.ts";
import { type MessageRow, messageColumns, messageTables, toMessage } from "../../resources/messages/message-record.ts";
import type { LiveChange } from "./change-store.ts";

/** One event of the stream as text, made once for all who may see it. */
export interface Frame {
  seq: number;
  organizationId: string;
  deviceId: string;
  textFor(principal: PersonPrincipal): string;
}

export const frameText = (id: number, event: string, data: unknown): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const wanted = (changes: readonly LiveChange[]) => sql`(
    select * from unnest(${changes.map((change) => change.organization_id)}::uuid[],
      ${changes.map((change) => change.device_id)}::uuid[], ${changes.map((change) => change.object_id)}::uuid[]))`;

const newestById = async <Row extends { id: string }>(
  changes: readonly LiveChange[],
  read: (changes: readonly LiveChange[]) => Promise<Row[]>,
): Promise<Map<string, Row>> => new Map((changes.length === 0 ? [] : await read(changes)).map((row) => [row.id, row]));

/**
 * The records as they are now, in the order of the changes. Of several changes of one record only the last is sent; what has
 * been deleted since is not sent at all.
 */
export async function readFrames(db: Db, changes: readonly LiveChange[]): Promise<Frame[]> {
  const last = [...new Map(changes.map((change) => [`${change.kind} ${change.object_id}`, change])).values()];
  last.sort((a, b) => a.seq - b.seq);
  const isEvent = ({ kind }: LiveChange): boolean => kind === "event" || kind === "event_acknowledged";
  const events = await newestById(last.filter(isEvent), (some) =>
    db.many<EventDetailRow>(sql`
      select ${eventDetailColumns} from ${eventTables}
      where (e.organization_id, e.device_id, e.id) in ${wanted(some)} and e.deleted_at is null`),
  );
  const messages = await newestById(
    last.filter(({ kind }) => kind === "message"),
    (some) =>
      db.many<MessageRow>(sql`
        select ${messageColumns} from ${messageTables}
        where (m.organization_id, m.device_id, m.id) in ${wanted(some)} and m.deleted_at is null
          and d.deleted_at is null`),
  );
  const commands = await newestById(
    last.filter(({ kind }) => kind === "command"),
    (some) =>
      db.many<VisibleCommandRow>(sql`
        select ${visibleColumns} from ${commandTables}
        where (c.organization_id, c.device_id, c.id) in ${wanted(some)} and c.deleted_at is null
          and d.deleted_at is null`),
  );
  return last.flatMap((change) => {
    const { kind, object_id } = change;
    const event = isEvent(change) ? events.get(object_id) : undefined;
    if (event) {
      // One frame for all who watch.
      const shown = withoutAddresses(event);
      return [sharedFrame(change, kind === "event" ? toEvent(shown) : toEventDetail(shown))];
    }
    const message = kind === "message" ? messages.get(object_id) : undefined;
    if (message) return [sharedFrame(change, toMessage(message))];
    const command = kind === "command" ? commands.get(object_id) : undefined;
    return command ? [commandFrame(change, command)] : [];
  });
}

function sharedFrame({ seq, organization_id, device_id, kind }: LiveChange, record: unknown): Frame {
  const text = frameText(seq, kind, record);
  return { seq, organizationId: organization_id, deviceId: device_id, textFor: () => text };
}

/** The parameters of some commands are for administrators alone. */
function commandFrame({ seq, organization_id, device_id, kind }: LiveChange, row: VisibleCommandRow): Frame {
  const texts = new Map<boolean, string>();
  const textFor = (principal: PersonPrincipal): string => {
    const isAdmin = isAtLeast(principal.person.role, "ADMIN");
    const text = texts.get(isAdmin) ?? frameText(seq, kind, commandFor(principal)(row));
    texts.set(isAdmin, text);
    return text;
  };
  return { seq, organizationId: organization_id, deviceId: device_id, textFor };
}
