import type { Db } from "../db/database.ts";
import { type KeyedRows, readKeyedRows } from "../db/keyed-rows.ts";
import { rawSql, type Sql, sql } from "../db/sql.ts";
import { readAuditOf } from "../resources/audit/audit-erasure.ts";
import type { HeldDevice } from "./device-tables.ts";
import { ofDevices, readDeviceIds } from "./sent-rows.ts";

const pageRows = 1000;

/** Pages of JSON texts, one for each row. */
export type Lines = AsyncGenerator<string[]>;

/** A row as JSON, by the names of its columns; secrets and what is only there for searching are left out. */
export const rowAsJson = (table: string, hidden: readonly string[] = []): Sql =>
  sql`(to_jsonb(${rawSql(table)}) - ${hidden}::text[])::text as line`;

export async function* readLines(db: Db, rows: KeyedRows, hidden?: readonly string[]): Lines {
  const select = rowAsJson(rows.table, hidden);
  for await (const page of readKeyedRows<{ line: string }>(db, rows, { select, pageRows })) {
    yield page.map(({ line }) => line);
  }
}

export interface ExportedPerson {
  organizationId: string;
  email: string;
  userId: string;
}

/** What is held of a person within an organization, one file each. */
export function personKinds(
  db: Db,
  { organizationId, email, userId }: ExportedPerson,
  devices: readonly HeldDevice[],
): [kind: string, lines: Lines][] {
  const byId = [["id", "uuid"]] as const;
  const own = sql`user_id = ${userId}`;
  const here = sql`organization_id = ${organizationId}`;
  const lines = (table: string, where: Sql, hidden?: readonly string[], key: KeyedRows["key"] = byId): Lines =>
    readLines(db, { table, key, where }, hidden);
  const byHash = (column: string) => [[column, "bytea"]] as const;
  const sent = (table: string, condition: Sql): Lines => readSent(db, organizationId, table, condition);
  return [
    ["person", lines("users", sql`id = ${userId}`, ["password_hash"])],
    ["memberships", lines("memberships", sql`${own} and ${here}`, ["search"])],
    ["sessions", lines("browser_sessions", sql`${own} and ${here}`, ["token_hash"])],
    ["activation_links", lines("activation_tokens", sql`${own} and ${here}`, ["token_hash"], byHash("token_hash"))],
    ["password_links", lines("password_resets", own, ["token_hash"], byHash("token_hash"))],
    ["second_factor", lines("second_factors", own, ["sealed_secret"], [["user_id", "uuid"]])],
    ["recovery_codes", lines("recovery_codes", own, ["code_hash"], byHash("code_hash"))],
    ["alarm_mails", lines("alarm_mail_windows", own, [], [["user_id", "uuid"]])],
    ["assignments", lines("assignments", sql`${own} and ${here}`, ["search"])],
    ["invitations", lines("invitations", sql`email = ${email} and ${here}`, ["search", "token_hash"])],
    // The parameters hold a link that sets a password.
    ["mails", lines("mails", sql`recipient = ${email} and ${here}`, ["params"])],
    ["geofences", lines("geofences", sql`${own} and ${here}`, ["search"])],
    ["thresholds", lines("alert_thresholds", sql`${own} and ${here}`)],
    ["sent_messages", sent("messages", sql`sender_user_id = ${userId}`)],
    ["sent_commands", sent("commands", sql`sender_user_id = ${userId}`)],
    ["acknowledged_events", sent("events", sql`acknowledged_by = ${userId}`)],
    ["audit_log", readAudit(db, { organizationId, email, userId }, devices)],
  ];
}

/** These tables are read by device, of which others may be the owners. */
async function* readSent(db: Db, organizationId: string, table: string, condition: Sql): Lines {
  for await (const deviceIds of readDeviceIds(db, organizationId)) {
    const where = sql`${ofDevices(organizationId, deviceIds)} and ${condition}`;
    const key = [["device_id", "uuid"] as const, ["id", "uuid"] as const];
    yield* readLines(db, { table, key, where }, ["search"]);
  }
}

async function* readAudit(
  db: Db,
  { organizationId, email, userId }: ExportedPerson,
  devices: readonly HeldDevice[],
): Lines {
  const texts = [email, ...devices.map(({ uid }) => uid)];
  const objectPks = [userId, ...devices.map(({ id }) => id)];
  const subject = { organizationId, texts, objectPks, actorId: userId };
  for await (const page of readAuditOf<{ line: string }>(db, subject, rowAsJson("a", ["search"]))) {
    yield page.map(({ line }) => line);
  }
}
