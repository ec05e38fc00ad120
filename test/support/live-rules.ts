import { Listener } from "../../src/db/listener.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import { fencesOfLocated } from "../../src/ingest/rules/located-rules.ts";
import { RuleBook } from "../../src/ingest/rules/rule-book.ts";
import { planChangedRules, runRuleTimers } from "../../src/ingest/rules/rule-timers.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { publishLocated } from "../../src/places/located-update.ts";
import { insertLocated } from "../../src/places/place-store.ts";
import { touchRules } from "../../src/resources/rule-versions/rule-version.ts";
import { listThresholdRulesById } from "../../src/resources/thresholds/threshold-rules-store.ts";
import type { GatewayWorld } from "./gateway.ts";

export interface FenceFields {
  name?: string;
  lat?: number;
  lng?: number;
  radiusM?: number;
  onEnter?: boolean;
  onExit?: boolean;
  dwellSeconds?: number | null;
  schedule?: object | null;
  scope?: "org" | "user" | "device";
  userId?: string | null;
  devices?: readonly string[];
}

export interface ThresholdFields {
  metric?: string;
  low?: number | null;
  high?: number | null;
  deviceId?: string | null;
  userId?: string | null;
  severity?: number;
  overrideMode?: number;
  minDurationSeconds?: number;
  clearMargin?: number;
  cooldownSeconds?: number;
}

/** Rules made as the API makes them, and timers run when the test says so. */
export function rulesOf(world: GatewayWorld) {
  const { db, clock, organizationId } = world;
  const log = makeLogger("silent");
  const parts = () => ({
    db,
    clock,
    rules: new RuleBook({ db, listener: new Listener(db, log), log, metrics: new Metrics() }),
  });
  const own = parts();
  const changeThreshold = (id: string, change: Sql): Promise<void> =>
    db.transaction(async (tx) => {
      const [before = null] = await listThresholdRulesById(tx, organizationId, [id]);
      await tx.run(sql`update alert_thresholds set ${change}, revision = revision + 1 where id = ${id}`);
      await touchRules(tx, organizationId, { kind: "threshold", id, before });
    });

  return {
    addFence: async (fields: FenceFields = {}): Promise<string> => {
      const id = newUuid();
      const { dwellSeconds = null, scope = "device", devices = [] } = fields;
      await db.transaction(async (tx) => {
        await tx.run`
          insert into geofences (id, organization_id, name, description, lat, lng, radius_m, trigger_on_enter,
            trigger_on_exit, trigger_on_dwell, dwell_threshold_seconds, schedule, is_active, scope, user_id, shape_revision,
            search, created_at, updated_at)
          values (${id}, ${organizationId}, ${fields.name ?? "Home"}, '', ${fields.lat ?? 41.9}, ${fields.lng ?? 12.5},
            ${fields.radiusM ?? 150}, ${fields.onEnter ?? true}, ${fields.onExit ?? true}, ${dwellSeconds !== null},
            ${dwellSeconds}, ${fields.schedule ?? null}, true, ${scope}, ${fields.userId ?? null}, 1, '', ${clock.now()},
            ${clock.now()})`;
        for (const deviceId of devices) {
          await tx.run`
            insert into geofence_devices (geofence_id, device_id, organization_id, linked_at)
            values (${id}, ${deviceId}, ${organizationId}, ${clock.now()})`;
        }
        await touchRules(tx, organizationId, { kind: "geofence", id });
      });
      return id;
    },
    changeFence: (id: string, fields: { radiusM?: number; dwellSeconds?: number; isActive?: boolean; name?: string }) =>
      db.transaction(async (tx) => {
        const { radiusM = null, dwellSeconds = null, isActive = null, name = null } = fields;
        await tx.run`
          update geofences set radius_m = coalesce(${radiusM}, radius_m), name = coalesce(${name}, name),
            trigger_on_dwell = trigger_on_dwell or ${dwellSeconds !== null},
            dwell_threshold_seconds = coalesce(${dwellSeconds}, dwell_threshold_seconds),
            is_active = coalesce(${isActive}, is_active), updated_at = ${clock.now()},
            shape_revision = shape_revision + ${radiusM !== null || isActive === true ? 1 : 0}
          where id = ${id}`;
        await touchRules(tx, organizationId, { kind: "geofence", id });
      }),
    unlink: (id: string, deviceId: string) =>
      db.transaction(async (tx) => {
        await tx.run`delete from geofence_devices where geofence_id = ${id} and device_id = ${deviceId}`;
        await touchRules(tx, organizationId, { kind: "geofence", id });
      }),
    addThreshold: async (fields: ThresholdFields = {}): Promise<string> => {
      const id = newUuid();
      const { deviceId = null, userId = null } = fields;
      await db.transaction(async (tx) => {
        await tx.run`
          insert into alert_thresholds (id, organization_id, scope, user_id, device_id, metric_key, low, high, severity,
            override_mode, is_active, min_duration_seconds, clear_margin, cooldown_seconds, revision, created_at, updated_at)
          values (${id}, ${organizationId}, ${userId ? 20 : deviceId ? 15 : 10}, ${userId}, ${deviceId},
            ${fields.metric ?? "hr"}, ${fields.low ?? null}, ${fields.high ?? null}, ${fields.severity ?? 20},
            ${fields.overrideMode ?? 10}, true, ${fields.minDurationSeconds ?? 0}, ${fields.clearMargin ?? 0},
            ${fields.cooldownSeconds ?? 0}, 1, ${clock.now()}, ${clock.now()})`;
        await touchRules(tx, organizationId, { kind: "threshold", id, before: null });
      });
      return id;
    },
    deleteThreshold: (id: string) => changeThreshold(id, sql`deleted_at = ${clock.now()}`),
    retargetThreshold: (id: string, deviceId: string) => changeThreshold(id, sql`device_id = ${deviceId}`),
    /** Off and on again. */
    switchThreshold: async (id: string): Promise<void> => {
      await changeThreshold(id, sql`is_active = false`);
      await changeThreshold(id, sql`is_active = true`);
    },
    /** A user of the organization; returns the id. */
    addUser: async (): Promise<string> => {
      const id = newUuid();
      await db.run`insert into users (id, email, created_at, updated_at) values (${id}, ${`${id}@example.org`}, ${clock.now()}, ${clock.now()})`;
      return id;
    },
    assign: (userId: string, deviceId: string) =>
      db.transaction(async (tx) => {
        await tx.run`
          insert into assignments (id, organization_id, device_id, user_id, role, is_active, source, search, assigned_at)
          values (${newUuid()}, ${organizationId}, ${deviceId}, ${userId}, 20, true, 'assign', '', ${clock.now()})`;
        await touchRules(tx, organizationId, { kind: "device", id: deviceId, before: { userId, isHolder: false } });
      }),
    unassign: (userId: string, deviceId: string) =>
      db.transaction(async (tx) => {
        await tx.run`
          update assignments set is_active = false, unassigned_at = ${clock.now()}
          where user_id = ${userId} and device_id = ${deviceId}`;
        await touchRules(tx, organizationId, { kind: "device", id: deviceId, before: { userId, isHolder: true } });
      }),
    /** What a worker does when it wakes up. */
    runTimers: async (): Promise<void> => {
      await planChangedRules(own);
      await runRuleTimers(own);
    },
    /** As many workers at once as given. */
    runTimersAtOnce: async (workers: number): Promise<void> => {
      await Promise.all(Array.from({ length: workers }, (_, index) => runRuleTimers(index === 0 ? own : parts())));
    },
    /** What the place worker does with an answer of its service. */
    locate: (deviceId: string, lat: number, lng: number, accuracyM: number): Promise<void> =>
      db.transaction(async (tx) => {
        const now = clock.now();
        const position = {
          id: newUuid(),
          deviceId,
          organizationId,
          ts: now,
          deviceTs: now,
          receivedAt: now,
          lat,
          lng,
          accuracyM,
        };
        const located = {
          ...position,
          source: "wifi",
          invalidReason: null,
          mcc: null,
          mnc: null,
          carrier: null,
        } as const;
        await insertLocated(tx, located);
        await fencesOfLocated(own.rules, clock, publishLocated(clock))(tx, located);
      }),
    ruleEvents: (deviceId: string) =>
      db.many`select event_type, severity, ts, device_ts, title, message, fence_id, fence_name, threshold_id, metric_key,
          value, location, data, id, created_at
        from events where device_id = ${deviceId} and event_type not in (60, 70) order by created_at, ts, id`,
    stateOf: (deviceId: string) => db.maybeOne`select * from rule_states where device_id = ${deviceId}`,
  };
}

export type Rules = ReturnType<typeof rulesOf>;

/** A place so many metres north of another. */
export const northOf = (lat: number, metres: number): number => lat + metres / 111_195;
