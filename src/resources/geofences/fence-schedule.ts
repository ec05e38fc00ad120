import { type Static, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";
import { refTo } from "../../http/schemas.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { parseTimezone } from "../organizations/organization-settings.ts";

const ScheduleWindow = Type.Object(
  {
    days: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: "ISO days of the week, 1 = Monday to 7 = Sunday, on which the window starts.",
      [messageKeyword]: "Expected 1 to 7 different days from 1 (Monday) to 7 (Sunday).",
    }),
    start: Type.String({
      pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
      description: "HH:MM",
      examples: ["08:00"],
      [messageKeyword]: "Expected a time as HH:MM.",
    }),
    end: Type.String({
      pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
      description:
        "HH:MM, or 24:00. If earlier than `start`, the window runs past midnight and belongs to the day on which it starts.",
      examples: ["18:00"],
      [messageKeyword]: "Expected a time as HH:MM, or 24:00.",
    }),
  },
  { $id: "GeofenceScheduleWindow" },
);

const windowsText = { minItems: 1, maxItems: 50 };

/** As it is stored and shown: the zone is always there. */
export const GeofenceSchedule = Type.Object(
  {
    timezone: Type.String({ description: "IANA time zone name." }),
    windows: Type.Array(refTo(ScheduleWindow), windowsText),
  },
  { $id: "GeofenceSchedule" },
);
export type GeofenceSchedule = Static<typeof GeofenceSchedule>;

export const GeofenceScheduleRequest = Type.Object(
  {
    timezone: Type.Optional(
      Type.String({ maxLength: 100, description: "IANA name; the default is that of the organization." }),
    ),
    windows: Type.Array(refTo(ScheduleWindow), windowsText),
  },
  { $id: "GeofenceScheduleRequest" },
);
export type GeofenceScheduleRequest = Static<typeof GeofenceScheduleRequest>;

/** Checks what a schema cannot, into `errors`, and leaves out what is no part of a schedule. */
export function readSchedule(
  given: GeofenceScheduleRequest,
  organizationTimezone: string,
  errors: FieldErrors,
): GeofenceSchedule {
  const timezone = given.timezone === undefined ? organizationTimezone : parseTimezone(given.timezone);
  if (timezone === undefined) errors["schedule.timezone"] = [`"${given.timezone}" is not a valid time zone.`];
  for (const [index, { start, end }] of given.windows.entries()) {
    if (start === end) {
      errors[`schedule.windows.${index}.end`] = ["end must differ from start. A whole day is 00:00 to 24:00."];
    }
  }
  return {
    timezone: timezone ?? organizationTimezone,
    windows: given.windows.map(({ days, start, end }) => ({ days, start, end })),
  };
}

/** The database keeps keys in an order of its own. */
export const toSchedule = ({ timezone, windows }: GeofenceSchedule): GeofenceSchedule => ({
  timezone,
  windows: windows.map(({ days, start, end }) => ({ days, start, end })),
});
