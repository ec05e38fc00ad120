import type { Database, Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { inRange } from "../telemetry/metric-catalog.ts";
import { metricsOf, readingWaitMs } from "./command-types.ts";

/**
 * A measurement is acknowledged when the watch accepts it; its reading comes later and says nothing of the command. The first
 * one of its kind after the acknowledgement is taken for it (section 8.3).
 */
interface Measuring {
  organization_id: string;
  device_id: string;
  id: string;
  command_type: string;
  acked_at: Date;
}

interface Reading {
  id: string;
  data: Record<string, unknown>;
}

/** Links what has arrived for the measurements of a device. True: one still waits for its reading. */
export async function linkReadings(db: Database, organizationId: string, deviceId: string): Promise<boolean> {
  const measuring = await db.many<Measuring & Record<string, unknown>>`
    select organization_id, device_id, id, command_type, acked_at from commands
    where organization_id = ${organizationId} and device_id = ${deviceId} and status = 'ack_ok' and due_at is not null
    order by number`;
  let isWaiting = false;
  for (const command of measuring) if (!(await linkReading(db, command))) isWaiting = true;
  return isWaiting;
}

/** False: there is no reading. */
export async function linkReading(db: Db, command: Measuring): Promise<boolean> {
  const metrics = metricsOf(command.command_type) ?? [];
  const reading = await firstReading(db, command, metrics);
  if (!reading) return false;
  const values = Object.fromEntries(metrics.map((metric) => [metric, reading.data[metric]]));
  await setResult(db, command, { telemetry_id: reading.id, metrics: values });
  return true;
}

export const noReading = (db: Db, command: Measuring): Promise<number> =>
  setResult(db, command, { telemetry_id: null, reason: "no_reading" });

export const postponeReading = (db: Db, command: Measuring, until: Date): Promise<number> =>
  db.run`
    update commands set due_at = ${until}
    where organization_id = ${command.organization_id} and device_id = ${command.device_id} and id = ${command.id}
      and status = 'ack_ok' and due_at is not null`;

const setResult = (db: Db, { organization_id, device_id, id }: Measuring, result: object): Promise<number> =>
  db.run`
    update commands set result = ${JSON.stringify(result)}, due_at = null
    where organization_id = ${organization_id} and device_id = ${device_id} and id = ${id} and status = 'ack_ok'
      and due_at is not null`;

/** More than a watch says in the time. */
const maxReadings = 1000;

/** Values out of range are no readings, here as everywhere. */
async function firstReading(
  db: Db,
  { organization_id, device_id, acked_at }: Measuring,
  metrics: readonly string[],
): Promise<Reading | undefined> {
  const rows = await db.many<Reading & Record<string, unknown>>(sql`
    select t.id, t.data from telemetry t
    where t.organization_id = ${organization_id} and t.device_id = ${device_id} and t.ts >= ${acked_at}
      and t.ts <= ${new Date(acked_at.getTime() + readingWaitMs)} and t.data ?& ${metrics}::text[]
    order by t.ts, t.id limit ${maxReadings}`);
  return rows.find(({ data }) => metrics.every((metric) => inRange(metric, data[metric])));
}
