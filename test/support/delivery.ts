import { openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { type Clock, makeClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { startWebhookPush, type WebhookPushOptions } from "../../src/outbound/webhook-push.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import type { WebhookEventType } from "../../src/outbox/webhook-event-types.ts";
import {
  createIntegration,
  type IntegrationSettings,
  setIntegrationStatus,
  updateIntegration,
} from "../../src/resources/organizations/integration-store.ts";
import { createOrganization } from "../../src/resources/organizations/organization-store.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { cliActor } from "./api.ts";
import type { TestAuthority } from "./certificates.ts";
import { createTestDatabase } from "./database.ts";
import { integrationSettings } from "./integration-settings.ts";
import { metricOf } from "./metric.ts";
import { testSecrets } from "./secrets.ts";

export const device = "490154203237518";

export interface TestHook {
  id: string;
  organizationId: string;
  secret: string;
  set(changed: Partial<IntegrationSettings>): Promise<void>;
  status(status: "active" | "disabled"): Promise<void>;
  /** Writes rows to the log; returns their ids. */
  append(...types: WebhookEventType[]): Promise<string[]>;
  appendOf(deviceUid: string, ...types: WebhookEventType[]): Promise<string[]>;
}

export interface TestWorker {
  metrics: Metrics;
  /** The value of a metric, by the beginning of its line. */
  metric(line: string): number;
  close(): Promise<void>;
}

export type DeliveryWorld = Awaited<ReturnType<typeof openDeliveryWorld>>;

/** Lanes of webhook push on a database of their own. Close it in the same file. */
export async function openDeliveryWorld(authority: TestAuthority, clock: Clock = makeClock()) {
  const database = await createTestDatabase();
  const log = makeLogger((process.env.TEST_LOG as "silent" | undefined) ?? "silent");
  const db = openDatabase({ connection: { connectionString: database.url }, log });
  await maintainPartitions(db, partitionedTables, clock.nowMs());
  const opened: (() => Promise<void>)[] = [];

  async function makeHook(settings: Partial<IntegrationSettings> = {}): Promise<TestHook> {
    const organizationId = newUuid();
    const actor = cliActor(organizationId);
    const organization = {
      name: "Care Co",
      slug: `org-${organizationId.slice(0, 8)}`,
      timezone: "UTC",
      defaultLocale: "en",
      features: [],
      perMinute: 600,
      perHour: 20_000,
    } as const;
    const created = await db.transaction(async (tx) => {
      await createOrganization(tx, organization, actor, clock.now());
      return createIntegration(tx, organizationId, integrationSettings(settings), actor, clock.now(), testSecrets);
    });
    const { id } = created.integration;
    const appendOf = async (deviceUid: string, ...types: WebhookEventType[]): Promise<string[]> => {
      const before = await lastId();
      const entries = types.map((type, n) => ({
        organizationId,
        type,
        deviceUid,
        occurredAtMs: clock.nowMs(),
        data: { n, text: "naïve ☕" },
      }));
      await db.transaction((tx) => appendOutbound(tx, entries, clock.nowMs()));
      const rows = await db.many<{ id: string }>`
        select id from outbound_events where integration_id = ${id} and id > ${before} order by id`;
      return rows.map((row) => row.id);
    };
    const lastId = async (): Promise<string> =>
      (
        await db.maybeOne<{ id: string }>`
          select id from outbound_events where integration_id = ${id} order by id desc limit 1`
      )?.id ?? "00000000-0000-0000-0000-000000000000";
    return {
      id,
      organizationId,
      secret: created.webhookSecret ?? "",
      set: async (changed) => {
        await db.transaction((tx) =>
          updateIntegration(tx, organizationId, id, changed, actor, clock.now(), testSecrets),
        );
      },
      status: async (status) => {
        await db.transaction((tx) => setIntegrationStatus(tx, organizationId, id, status, actor, clock.now()));
      },
      append: (...types) => appendOf(device, ...types),
      appendOf,
    };
  }

  async function startWorker(
    options: Partial<WebhookPushOptions> & { url?: string; isDeaf?: true } = {},
  ): Promise<TestWorker> {
    const own = options.url
      ? openDatabase({ connection: { connectionString: options.url }, log, acquireTimeoutMs: 2000 })
      : db;
    const listener = new Listener(own, log);
    const metrics = new Metrics();
    const push = startWebhookPush({
      db: own,
      clock,
      log,
      listener,
      metrics,
      secrets: testSecrets,
      waitsMs: [30, 30, 30, 30],
      timeoutMs: 2000,
      allowCidrs: ["127.0.0.0/8"],
      extraCa: authority.ca,
      tickMs: 100,
      ...options,
    });
    if (!options.isDeaf) await listener.start();
    let isClosed = false;
    const close = async (): Promise<void> => {
      if (isClosed) return;
      isClosed = true;
      await push.close();
      await listener.close();
      if (own !== db) await own.close();
    };
    opened.push(close);
    return {
      metrics,
      metric: (name) => metricOf(metrics, name),
      close,
    };
  }

  return {
    db,
    url: database.url,
    makeHook,
    startWorker,
    attemptsOf: ({ id }: TestHook) =>
      db.many<{ event_id: string; attempt: number; status_code: number | null; error: string | null }>`
        select event_id, attempt, status_code, error from delivery_attempts where integration_id = ${id} order by id`,
    deadLettersOf: ({ id }: TestHook) =>
      db.many<{ id: string; attempts: number; last_error: string }>`
        select id, attempts, last_error from dead_letters where integration_id = ${id} order by id`,
    openOf: ({ id }: TestHook) =>
      db.many<{ id: string; attempts: number; due_at: Date }>`
        select id, attempts, due_at from deliveries where integration_id = ${id} order by id`,
    /** Ends the workers of a test. */
    closeWorkers: async () => {
      for (const close of opened.splice(0).reverse()) await close();
    },
    close: async () => {
      for (const close of opened.splice(0).reverse()) await close();
      await db.close();
      await database.drop();
    },
  };
}
