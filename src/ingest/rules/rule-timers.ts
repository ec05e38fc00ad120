import type { Database, Tx } from "../../db/database.ts";
import type { NodeWatch } from "../../db/node-watch.ts";
import { joinSql, type Sql, sql } from "../../db/sql.ts";
import type { Clock } from "../../lib/clock.ts";
import { uuidBytes, uuidV7 } from "../../lib/ids.ts";
import { listHoldersOfUsers } from "../../resources/assignments/holder-store.ts";
import { findRuleChanges, type RuleChange } from "../../resources/rule-versions/rule-version.ts";
import { listThresholdChanges } from "../../resources/thresholds/threshold-changes.ts";
import { listThresholdTargets } from "../../resources/thresholds/threshold-rules-store.ts";
import type { LastLocation } from "../device-memory.ts";
import { displayName, insertEvents } from "../event-store.ts";
import type { EventRow } from "../ingest-rows.ts";
import { DeviceRules } from "./device-rules.ts";
import { mayHaveMissedChange } from "./past-thresholds.ts";
import type { RuleBook } from "./rule-book.ts";
import { ruleEvent } from "./rule-events.ts";
import { memoryOf, type StoredRules } from "./rule-memory.ts";
import { holdRuleVersions, type LockedDevice, lockDevices, type MovedRules, moveRuleStates } from "./rule-store.ts";

const maxDevices = 200;

export interface RuleTimerParts {
  db: Database;
  /** On a distributed database the timers of devices whose node is away wait. */
  nodes?: Pick<NodeWatch, "isWhole" | "findAway" | "noteFailure">;
  clock: Clock;
  rules: RuleBook;
}

const firstUuid = "00000000-0000-0000-0000-000000000000";
const nobody: ReadonlySet<string> = new Set();

/**
 * Runs what is due by now: confirmations, stays, durations and ends of pauses, whether their devices are connected or not. Any
 * number of workers may: the state row of a device is the lock, and what was due before it was had is looked at again. Returns
 * how many devices had something due.
 */
export async function runRuleTimers({ db, nodes, clock, rules }: RuleTimerParts): Promise<number> {
  // Those that wait for their node stay due: the others are found after them.
  let last: { device_id: string; due_at: Date } | undefined;
  for (let total = 0; ; ) {
    const now = clock.now();
    const due = await db.many<{ device_id: string; due_at: Date }>`
      select device_id, due_at from rule_states
      where due_at <= ${now} and (due_at, device_id) > (${last?.due_at ?? new Date(0)}, ${last?.device_id ?? firstUuid}::uuid)
      order by due_at, device_id limit ${maxDevices}`;
    last = due.at(-1);
    const away = nodes ? await nodes.findAway(due.map(({ device_id }) => device_id)) : nobody;
    const ids = due.flatMap(({ device_id }) => (away.has(device_id) ? [] : device_id));
    if (ids.length > 0) await db.transaction((tx) => runDue(tx, ids, now, rules));
    total += ids.length;
    if (due.length < maxDevices) return total;
  }
}

interface DueState {
  device_id: string;
  state: StoredRules;
}

async function runDue(tx: Tx, ids: readonly string[], now: Date, book: RuleBook): Promise<void> {
  const nowMs = now.getTime();
  const devices = await lockDevices(tx, ids);
  const live = devices.filter(({ is_deleted }) => !is_deleted);
  const liveIds = new Set(live.map(({ id }) => id));
  const missingIds = ids.filter((id) => !liveIds.has(id));
  if (missingIds.length > 0) await tx.run`delete from rule_states where device_id = any(${missingIds}::uuid[])`;
  const organizationIds = [...new Set(live.map(({ organization_id }) => organization_id))].sort();
  const versions = await holdRuleVersions(tx, organizationIds);
  const states = await tx.many<DueState>`
    select device_id, state from rule_states where device_id = any(${[...liveIds]}::uuid[]) and due_at <= ${now}`;
  const stored = new Map(states.map(({ device_id, state }) => [device_id, state]));
  const moved: MovedRules[] = [];
  const events: EventRow[] = [];
  for (const device of live) {
    const state = stored.get(device.id);
    if (!state) continue;
    const { organization_id: organizationId } = device;
    const organizationRules = await book.atLeast(organizationId, versions.get(organizationId) ?? 0);
    const tools = { isScheduled: book.isScheduled, newEventId: uuidV7 };
    const rules = new DeviceRules(memoryOf(state, null), organizationRules.viewOf(device.id), tools);
    if (mayHaveMissedChange(rules.memory, organizationRules)) {
      const since = rules.memory.thresholdsAsOf ?? organizationRules.version;
      const changes = await listThresholdChanges(tx, organizationId, since, organizationRules.version);
      rules.takePast(device.id, changes);
    }
    rules.takeTime(nowMs, contextOf(device));
    const { memory, dueMs, hasMoved } = rules;
    moved.push({ deviceId: device.id, organizationId, rules: memory, dueMs, hasMoved });
    events.push(...(await eventsOf(tx, device, rules)));
  }
  if (moved.length > 0) await moveRuleStates(tx, moved);
  await insertEvents(tx, events, nowMs);
}

const contextOf = ({
  last_status,
  last_location,
}: LockedDevice): { battery: number | null; location: LastLocation | null } => ({
  battery: last_status.bat?.value ?? null,
  location: last_location,
});

/** Events of a device outside of a batch. */
export async function eventsOf(tx: Tx, device: LockedDevice, { facts }: DeviceRules): Promise<EventRow[]> {
  const { id, organization_id: organizationId, uid, name } = device;
  const hold = {
    device: { id, organizationId, uid, name },
    deviceIdBytes: uuidBytes(id),
    organizationIdBytes: uuidBytes(organizationId),
  };
  const owner = { hold, name: displayName(name, uid), newEventId: uuidV7 };
  const events: EventRow[] = [];
  for (const found of facts) {
    let { deviceTimeMs } = found;
    if (deviceTimeMs === undefined) {
      const fix = await tx.maybeOne<{ device_ts: Date | null }>`
        select device_ts from locations where device_id = ${id} and ts = ${new Date(found.fact.tsMs)} limit 1`;
      deviceTimeMs = fix?.device_ts?.getTime() ?? null;
    }
    events.push(ruleEvent({ ...found, deviceTimeMs }, owner));
  }
  return events;
}

/**
 * Looks again at the states of devices whose rules have changed: a stay that was not watched for may be due by now, and a breach
 * whose rule does not apply is over. What the rules say is settled by the timers; here they only become due.
 */
export async function planChangedRules({ db, clock }: RuleTimerParts): Promise<void> {
  const outdated = await db.many<{ organization_id: string; version: number; planned: number }>`
    select v.organization_id, v.version, coalesce(p.version, 0) as planned
    from rule_versions v left join rule_plans p on p.organization_id = v.organization_id
    where v.version > coalesce(p.version, 0)`;
  for (const { organization_id: organizationId, version, planned } of outdated) {
    await db.transaction(async (tx) => {
      const latest = await findRuleChanges(tx, organizationId, planned);
      const changes = latest?.changes ?? [{ kind: "all", id: organizationId } as const];
      const fences = changes.filter(({ kind }) => kind === "geofence").map(({ id }) => id);
      const isAll = changes.some(({ kind }) => kind === "all");
      const held = await heldDevices(tx, organizationId, changes);
      const now = clock.now();
      const conditions: Sql[] = [];
      if (isAll) conditions.push(sql`state ? 'fences'`);
      else if (fences.length > 0) conditions.push(sql`state->'fences' ?| ${fences}::text[]`);
      if (isAll || held.isAll) conditions.push(hasBreach);
      else if (held.ids.length > 0) conditions.push(sql`device_id = any(${held.ids}::uuid[]) and ${hasBreach}`);
      if (conditions.length > 0) {
        await tx.run`
          with concerned as materialized (
            select device_id from rule_states
            where organization_id = ${organizationId} and (due_at is null or due_at > ${now}) and (${joinSql(conditions, " or ")})
            order by device_id for update)
          update rule_states s set due_at = ${now} from concerned c where s.device_id = c.device_id`;
      }
      await tx.run`
        insert into rule_plans as p (organization_id, version) values (${organizationId}, ${latest?.version ?? version})
        on conflict (organization_id) do update set version = greatest(p.version, excluded.version)`;
    });
  }
}

const hasBreach = sql`jsonb_path_exists(state, '$.thresholds.*.*.ruleId')`;

/** The devices to which other thresholds may apply than before. */
async function heldDevices(
  tx: Tx,
  organizationId: string,
  changes: readonly RuleChange[],
): Promise<{ isAll: boolean; ids: string[] }> {
  const idsOf = (kind: RuleChange["kind"]): string[] =>
    changes.filter((change) => change.kind === kind).map(({ id }) => id);
  const changed = idsOf("threshold");
  const targets = changed.length > 0 ? await listThresholdTargets(tx, organizationId, changed) : [];
  const users = targets.flatMap(({ userId }) => userId ?? []);
  const holders = users.length > 0 ? await listHoldersOfUsers(tx, organizationId, users) : [];
  return {
    isAll: targets.some(({ userId, deviceId }) => userId === null && deviceId === null),
    ids: [
      ...idsOf("device"),
      ...targets.flatMap(({ deviceId }) => deviceId ?? []),
      ...holders.map(({ deviceId }) => deviceId),
    ],
  };
}
