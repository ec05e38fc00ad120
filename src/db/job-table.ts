import type { Db } from "./database.ts";
import { allOf, joinSql, rawSql, type Sql, sql } from "./sql.ts";

/**
 * A table whose rows are jobs. A claim counts the attempt and moves the due time to the end of the lease: a job whose process
 * dies is due again by itself. The number of the attempt is the proof of ownership, because a later claim has a higher one.
 */
export interface JobTable {
  /** Its name, and the names of its columns. */
  table: string;
  key: readonly string[];
  dueAt: string;
  attempts: string;
  /** Which rows of `job` are jobs at all. An index by these conditions, the organization and the due time must exist. */
  where: Sql;
  /** What else is assigned at the claim. */
  assign?: Sql;
  /** What is read of a claimed row `job`; `organization_id` and the columns of the key and of the attempts are always read. */
  select: Sql;
  joins?: Sql;
}

export interface ClaimedRow {
  organization_id: string;
  attempts: number;
}

export interface Claim {
  now: Date;
  leaseMs: number;
  limit: number;
  /** Of one organization, those that it holds already included. */
  maxPerOrganization: number;
  /** How many jobs of each organization the caller holds. */
  held: ReadonlyMap<string, number>;
  /** The organization that was served last: others come first. */
  lastServed: string | undefined;
}

/** More candidates than wanted: other processes may be taking some of them in this moment. */
const spareCandidates = 16;
const zeroUuid = "00000000-0000-0000-0000-000000000000";

/**
 * Takes due jobs in one statement that skips locked rows. Organizations take turns: the first job of each comes before the second
 * of any, counted with those that the caller holds already. What a claim reads depends on the number of organizations that have
 * jobs, not on the number of jobs.
 */
export async function claimJobs<Row extends ClaimedRow>(db: Db, jobs: JobTable, claim: Claim): Promise<Row[]> {
  const { now, leaseMs, limit, maxPerOrganization, held, lastServed = zeroUuid } = claim;
  const table = rawSql(jobs.table);
  const [dueAt, attempts] = [rawSql(`job.${jobs.dueAt}`), rawSql(`job.${jobs.attempts}`)];
  const key = rawSql(jobs.key.map((column) => `job.${column}`).join(", "));
  const isDue = sql`${jobs.where} and ${dueAt} <= ${now}`;
  const sameKey = (other: string): Sql =>
    joinSql(
      jobs.key.map((column) => rawSql(`job.${column} = ${other}.${column}`)),
      " and ",
    );
  const turn = sql`candidate.turn, candidate.organization_id <= ${lastServed}::uuid, candidate.organization_id`;
  return db.many<Row & Record<string, unknown>>(sql`
    with recursive tenant as (
      (select job.organization_id from ${table} job where ${jobs.where} order by job.organization_id limit 1)
      union all
      select (
        select job.organization_id from ${table} job
        where ${jobs.where} and job.organization_id > tenant.organization_id
        order by job.organization_id limit 1
      ) from tenant where tenant.organization_id is not null
    ), candidate as materialized (
      select candidate.* from (
        select first.*, tenant.organization_id,
          coalesce(held.jobs, 0) + row_number() over (partition by tenant.organization_id order by first.due_at) as turn
        from tenant
        left join unnest(${[...held.keys()]}::uuid[], ${[...held.values()]}::int[]) as held (organization_id, jobs)
          on held.organization_id = tenant.organization_id
        cross join lateral (
          select ${key}, ${dueAt} as due_at from ${table} job
          where ${isDue} and job.organization_id = tenant.organization_id
          order by ${dueAt} limit greatest(0, ${maxPerOrganization}::int - coalesce(held.jobs, 0))
        ) first
      ) candidate
      order by ${turn} limit ${limit}::int + ${spareCandidates}::int
    ), due as materialized (
      select ${key} from candidate join ${table} job on ${sameKey("candidate")}
      where ${isDue} order by ${turn} limit ${limit} for update of job skip locked
    ), claimed as (
      update ${table} job set ${rawSql(jobs.attempts)} = ${attempts} + 1,
        ${rawSql(jobs.dueAt)} = ${new Date(now.getTime() + leaseMs)}${jobs.assign ? sql`, ${jobs.assign}` : sql``}
      from due where ${sameKey("due")}
      returning job.*
    )
    select job.organization_id, ${attempts} as attempts, ${key}, ${jobs.select} from claimed job ${jobs.joins ?? sql``}`);
}

/** The row of a job under the name `job`, while the claim that gave it is the last one. */
export const isHeld = (jobs: JobTable, row: ClaimedRow & Readonly<Record<string, unknown>>): Sql =>
  allOf([
    ...jobs.key.map((column) => sql`${rawSql(`job.${column}`)} = ${row[column]}`),
    sql`job.organization_id = ${row.organization_id}`,
    sql`${rawSql(`job.${jobs.attempts}`)} = ${row.attempts}`,
    jobs.where,
  ]);
