import { type Static, Type } from "@sinclair/typebox";
import { rulesOf } from "../../codecs/protocols.ts";
import { sql } from "../../db/sql.ts";
import type { Principal } from "../../http/principal.ts";
import { FreeObject, Nullable, refTo, StringEnum, Timestamp, Uuid } from "../../http/schemas.ts";
import { isAtLeast } from "../../oauth/roles.ts";
import { redactedParams, scopeForParams } from "../../outbox/private-params.ts";

export const commandStatuses = ["pending", "sending", "sent", "ack_ok", "ack_error", "timeout"] as const;
export type CommandStatusName = (typeof commandStatuses)[number];
export type FinalStatus = "ack_ok" | "ack_error" | "timeout";

const commandErrorCodes = [
  "device_rejected",
  "not_supported",
  "invalid_params",
  "ack_timeout",
  "expired",
  "transport_error",
  "cancelled",
] as const;
export type CommandErrorCode = (typeof commandErrorCodes)[number];

const CommandStatus = StringEnum("CommandStatusEnum", commandStatuses);
const CommandErrorCodeEnum = StringEnum("CommandErrorCodeEnum", commandErrorCodes);

export const CommandError = Type.Object(
  { code: refTo(CommandErrorCodeEnum), message: Type.String(), details: FreeObject },
  { $id: "CommandError" },
);
export type CommandError = Static<typeof CommandError>;

export const Command = Type.Object(
  {
    command_uuid: Uuid,
    device_uid: Type.String({ description: "IMEI, 15 digits." }),
    command_type: Type.String({ description: "One of the command capabilities of the device." }),
    params: FreeObject,
    status: refTo(CommandStatus),
    terminal: Type.Boolean({ description: "True once a final status is reached." }),
    queue_position: Nullable(
      Type.Integer({
        description: "Position among the device's commands that are not final, from 1; null when final.",
      }),
    ),
    attempts: Type.Integer({ description: "How many times it was written to the device." }),
    result: Nullable(
      Type.Unsafe<Record<string, unknown>>({
        ...FreeObject,
        description:
          "For a measurement, the reading; `confirmed` is false where the device does not acknowledge this command.",
      }),
    ),
    error: Nullable(refTo(CommandError)),
    sender_user_id: Nullable(Type.String({ format: "uuid", description: "The person; null for a partner." })),
    created_at: Timestamp,
    sent_at: Nullable(Timestamp),
    acked_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
    expires_at: Type.String({ format: "date-time", description: "The latest time at which it may be sent." }),
  },
  { $id: "Command" },
);
export type Command = Static<typeof Command>;

export const CommandRequest = Type.Object(
  {
    command_type: Type.String({ minLength: 1, maxLength: 100, description: "See the capabilities of the device." }),
    params: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...FreeObject,
        description: "By the `params_schema` of the capability; unknown keys are ignored.",
      }),
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_592_000,
        description: "Seconds within which the device must be reached; by default a day, or what the operator has set.",
      }),
    ),
  },
  { $id: "CommandRequest" },
);

export interface CommandRow {
  id: string;
  organization_id: string;
  device_id: string;
  device_uid: string;
  protocol_slug: string;
  number: number;
  command_type: string;
  params: Record<string, unknown>;
  status: CommandStatusName;
  attempts: number;
  awaited: { word: string; echo?: string }[] | null;
  ack_wait_seconds: number | null;
  node_id: string | null;
  is_write_broken: boolean;
  result: Record<string, unknown> | null;
  error: CommandError | null;
  sender_user_id: string | null;
  created_at: Date;
  sent_at: Date | null;
  acked_at: Date | null;
  completed_at: Date | null;
  expires_at: Date;
  due_at: Date | null;
}

/** Statuses stand in statements as they are: a plan for any status cannot use the index of the open ones. */
export const isOpen = sql`c.status in ('pending', 'sending', 'sent')`;
export const isInFlight = sql`c.status in ('sending', 'sent')`;

export const commandColumns = sql`c.id, c.organization_id, c.device_id, d.uid as device_uid, d.protocol_slug, c.number,
  c.command_type, c.params, c.status, c.attempts, c.awaited, c.ack_wait_seconds, c.node_id, c.is_write_broken, c.result,
  c.error, c.sender_user_id, c.created_at, c.sent_at, c.acked_at, c.completed_at, c.expires_at, c.due_at`;
export const commandTables = sql`commands c
  join devices d on d.id = c.device_id and d.organization_id = c.organization_id`;

export interface VisibleCommandRow extends CommandRow {
  queue_position: number | null;
}

export const visibleColumns = sql`${commandColumns}, case when ${isOpen} then (
    select count(*) from commands q
    where q.device_id = c.device_id and q.status in ('pending', 'sending', 'sent') and q.number <= c.number
  ) end as queue_position`;

/** What no other open command of the device has. Even sequence numbers: the odd ones are left to messages. */
export const serialOf = ({ number, protocol_slug }: Pick<CommandRow, "number" | "protocol_slug">): string =>
  rulesOf(protocol_slug).serialOf(2 * number);

const isFinal = (status: CommandStatusName): boolean => !["pending", "sending", "sent"].includes(status);

/** Whether the caller may see the parameters of such a command: phone numbers and texts are not for everybody. */
export function seesParams(principal: Principal, commandType: string): boolean {
  const scope = scopeForParams(commandType);
  if (scope === undefined) return true;
  return principal.kind === "partner" ? principal.partner.scopes.has(scope) : isAtLeast(principal.person.role, "ADMIN");
}

/** The record as the caller may see it. */
export const commandFor =
  (principal: Principal) =>
  (row: VisibleCommandRow): Command => {
    const command = toCommand(row);
    return seesParams(principal, row.command_type) ? command : { ...command, params: redactedParams };
  };

export const toCommand = (row: VisibleCommandRow): Command => ({
  command_uuid: row.id,
  device_uid: row.device_uid,
  command_type: row.command_type,
  params: row.params,
  status: row.status,
  terminal: isFinal(row.status),
  queue_position: row.queue_position,
  attempts: row.attempts,
  result: row.result,
  error: row.error,
  sender_user_id: row.sender_user_id,
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
  acked_at: row.acked_at?.toISOString() ?? null,
  completed_at: row.completed_at?.toISOString() ?? null,
  expires_at: row.expires_at.toISOString(),
});

/** `data` of command.ack and command.failed (section 19.3). */
export const commandData = (row: CommandRow): Record<string, unknown> => ({
  command_uuid: row.id,
  command_type: row.command_type,
  status: row.status,
  params: row.params,
  result: row.result,
  error: row.error,
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
  acked_at: row.acked_at?.toISOString() ?? null,
  completed_at: row.completed_at?.toISOString() ?? null,
});
