import type { Db } from "../db/database.ts";
import { notify } from "../db/listener.ts";
import { isRunning, type RatePolicy, type RateWindow } from "./rate-limit-window.ts";

/** Asks every process to give back the calls that it leased for a principal and has not made. */
export const recallChannel = "vigil_rate_recall";
/** Says that an exhausted window of a principal has room again. */
export const returnedChannel = "vigil_rate_returned";

export interface LeaseRequest {
  policies: readonly RatePolicy[];
  now: Date;
  /** Calls that wait and will be made at once. */
  waiting: number;
  /** How many calls the process may take in advance. */
  hold: number;
}

export interface LeaseRow {
  policy: string;
  started_at: Date;
  used: number;
  calls: number;
}

/**
 * Takes calls from every window at once, or from none when one of them has no room; then no window starts either. What is
 * taken in advance is an eighth of the room, so that the last calls are taken one by one. A row with `used` 0 is not a window:
 * nobody has made or holds a call of it. Fewer rows than policies: some do not exist yet, and nothing was taken.
 *
 * The rows are locked first, in the order of their key, because the grant depends on all of them; the update then sees the
 * locked versions, not those of its snapshot.
 */
export function leaseCalls(db: Db, principalId: string, request: LeaseRequest): Promise<LeaseRow[]> {
  const { policies, now, waiting, hold } = request;
  const names = policies.map(({ name }) => name);
  return db.many<LeaseRow>`
    with asked (policy, quota, length) as (
      select policy, quota, make_interval(secs => seconds)
      from unnest(${names}::text[], ${policies.map(({ quota }) => quota)}::int[],
        ${policies.map(({ windowSeconds }) => windowSeconds)}::int[]) as asked (policy, quota, seconds)
    ), locked as materialized (
      select policy, started_at, used from rate_windows
      where principal_id = ${principalId} and policy = any(${names}::text[])
      order by policy for update
    ), windows as (
      select policy, quota,
        case when is_running then started_at else ${now}::timestamptz end as started_at,
        case when is_running then used else 0 end as used
      from locked join asked using (policy)
      cross join lateral (select used > 0 and started_at > ${now}::timestamptz - length
        and started_at <= ${now}::timestamptz + length) as state (is_running)
    ), lease (calls) as (
      select case when count(*) = ${policies.length}::int then
          greatest(0, least(min(quota - used), greatest(${waiting}::int, least(${hold}::int, greatest(1, min(quota - used) / 8)))))
        else 0 end
      from windows
    ), taken as (
      update rate_windows set started_at = windows.started_at, used = windows.used + calls
      from windows cross join lease
      where rate_windows.principal_id = ${principalId} and rate_windows.policy = windows.policy and calls > 0
    )
    select policy, started_at, used + calls as used, calls from windows cross join lease`;
}

export function createWindows(
  db: Db,
  principalId: string,
  policies: readonly RatePolicy[],
  now: Date,
): Promise<number> {
  return db.run`
    insert into rate_windows (principal_id, policy, started_at, used)
    select ${principalId}::uuid, policy, ${now}::timestamptz, 0 from unnest(${policies.map(({ name }) => name)}::text[]) as asked (policy)
    order by policy
    on conflict (principal_id, policy) do nothing`;
}

/**
 * Gives calls back to those of the windows that still run, and says so if one of them was exhausted. An unconditional
 * notification would make every process that falls silent serialize its commit with all other notifying ones.
 */
export async function returnCalls(
  db: Db,
  principalId: string,
  windows: readonly RateWindow[],
  calls: number,
): Promise<void> {
  const names = windows.map(({ policy }) => policy.name);
  await db.many`
    with given (policy, started_at, quota) as (
      select * from unnest(${names}::text[], ${windows.map(({ startedAtMs }) => new Date(startedAtMs))}::timestamptz[],
        ${windows.map(({ policy }) => policy.quota)}::int[])
    ), locked as materialized (
      select policy, started_at, used from rate_windows
      where principal_id = ${principalId} and policy = any(${names}::text[])
      order by policy for update
    ), same as (
      select policy, used, quota from locked join given using (policy, started_at)
    ), given_back as (
      update rate_windows set used = greatest(0, same.used - ${calls}::int)
      from same
      where rate_windows.principal_id = ${principalId} and rate_windows.policy = same.policy
    )
    select pg_notify(${returnedChannel}, ${principalId}::text)
    where exists (select from same where used >= quota)`;
}

export const recallCalls = (db: Db, principalId: string): Promise<number> => notify(db, recallChannel, principalId);

export interface RateUse {
  name: string;
  limit: number;
  window_seconds: number;
  /** Calls of the running window, those included that a process holds in advance. */
  used: number;
  /** Null: no window runs; the next call begins one. */
  resets_at: Date | null;
}

/** What of its quotas a principal has used. */
export async function readRateUse(
  db: Db,
  principalId: string,
  policies: readonly RatePolicy[],
  now: Date,
): Promise<RateUse[]> {
  const rows = await db.many<{ policy: string; started_at: Date; used: number }>`
    select policy, started_at, used from rate_windows where principal_id = ${principalId}`;
  return policies.map((policy) => {
    const row = rows.find((one) => one.policy === policy.name);
    const window = row && { policy, startedAtMs: row.started_at.getTime(), used: row.used, own: 0 };
    const isCounting = window !== undefined && window.used > 0 && isRunning(window, now.getTime());
    return {
      name: policy.name,
      limit: policy.quota,
      window_seconds: policy.windowSeconds,
      used: isCounting ? Math.min(window.used, policy.quota) : 0,
      resets_at: isCounting ? new Date(window.startedAtMs + policy.windowSeconds * 1000) : null,
    };
  });
}

/** Rows of windows that ended before the given start; a missing row is made again by the next call. */
export const deleteEndedWindows = (db: Db, startedBefore: Date): Promise<number> =>
  db.run`delete from rate_windows where started_at < ${startedBefore}`;
