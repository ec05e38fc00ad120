import type { Db, Tx } from "../db/database.ts";
import { type ClaimedRow, isHeld, type JobTable } from "../db/job-table.ts";
import { sql } from "../db/sql.ts";
import type { PlaceJob, PlaceKind } from "./place-job.ts";

/** The durable queue of lookups. A job is committed with the packet it comes from, and leaves with its result, in one transaction. */
export async function insertPlaceJobs(tx: Tx, jobs: readonly PlaceJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.run`
    insert into place_jobs (device_id, id, organization_id, kind, payload, attempts, due_at, created_at)
    select device_id, id, organization_id, kind, payload::jsonb, 0, created_at, created_at
    from unnest(
      ${jobs.map((job) => job.deviceId)}::uuid[], ${jobs.map((job) => job.id)}::uuid[],
      ${jobs.map((job) => job.organizationId)}::uuid[], ${jobs.map((job) => job.kind)}::text[],
      ${jobs.map((job) => JSON.stringify(job.payload))}::text[], ${jobs.map((job) => job.createdAt)}::timestamptz[]
    ) as job (device_id, id, organization_id, kind, payload, created_at)
    on conflict (device_id, id) do nothing`;
}

export type Claimed<Job extends PlaceJob = PlaceJob> = Job & ClaimedRow;

export const placeJobs = (kind: PlaceKind): JobTable => ({
  table: "place_jobs",
  key: ["device_id", "id"],
  dueAt: "due_at",
  attempts: "attempts",
  where: sql`job.kind = ${kind}`,
  select: sql`job.device_id as "deviceId", job.organization_id as "organizationId", job.kind, job.payload,
    job.created_at as "createdAt"`,
});

/** False: somebody else has finished the job, and its result must not be written again. */
export async function finishPlaceJob(db: Db, { deviceId, id, organizationId }: PlaceJob): Promise<boolean> {
  const deleted = await db.run`
    delete from place_jobs where device_id = ${deviceId} and id = ${id} and organization_id = ${organizationId}`;
  return deleted > 0;
}

/** Zero: the lease was lost, and the job belongs to another worker. */
export const postponePlaceJob = (db: Db, job: Claimed, until: Date): Promise<number> =>
  db.run(sql`update place_jobs job set due_at = ${until} where ${isHeld(placeJobs(job.kind), { ...job })}`);

/** Jobs that were due for so long that their service cannot keep up, or is not configured any more. Returns how many. */
export const dropOverduePlaceJobs = (
  db: Db,
  { kind, dueBefore, limit }: { kind: PlaceKind; dueBefore: Date; limit: number },
): Promise<number> =>
  db.run`
    delete from place_jobs where (device_id, id) in (
      select device_id, id from place_jobs where kind = ${kind} and due_at < ${dueBefore}
      order by due_at limit ${limit} for update skip locked)`;

export interface LocatedPosition {
  id: string;
  deviceId: string;
  organizationId: string;
  ts: Date;
  deviceTs: Date | null;
  receivedAt: Date;
  lat: number;
  lng: number;
  accuracyM: number;
  source: "wifi" | "lbs";
  invalidReason: "zero_coordinates" | "low_accuracy" | null;
  mcc: number | null;
  mnc: number | null;
  carrier: string | null;
}

/** Writes the position, and shows it as the last one unless a newer one is known. */
export async function insertLocated(tx: Tx, position: LocatedPosition): Promise<void> {
  const { id, deviceId, organizationId, ts, lat, lng, accuracyM, source, invalidReason } = position;
  await tx.run`
    insert into locations (device_id, ts, id, organization_id, device_ts, received_at, lat, lng, accuracy_m, source,
      is_valid, invalid_reason, mcc, mnc, carrier)
    values (${deviceId}, ${ts}, ${id}, ${organizationId}, ${position.deviceTs}, ${position.receivedAt}, ${lat}, ${lng},
      ${accuracyM}, ${source}, ${invalidReason === null}, ${invalidReason}, ${position.mcc}, ${position.mnc},
      ${position.carrier})
    on conflict (device_id, ts, id) do nothing`;
  if (invalidReason !== null) return;
  const last = { lat, lng, accuracy_m: accuracyM, source, ts: ts.toISOString() };
  await tx.run`
    update device_state set last_location = ${last}, located_at = ${ts}
    where device_id = ${deviceId} and organization_id = ${organizationId}
      and (located_at is null or located_at < ${ts})`;
}

export const setAddress = (
  db: Db,
  organizationId: string,
  location: { deviceId: string; ts: Date; id: string },
  address: string,
): Promise<number> =>
  db.run`
    update locations set address = ${address}
    where organization_id = ${organizationId} and device_id = ${location.deviceId} and ts = ${location.ts}
      and id = ${location.id}`;
