import { allScopes } from "../../src/oauth/scopes.ts";
import {
  createIntegration,
  type IntegrationSettings,
  updateIntegration,
} from "../../src/resources/organizations/integration-store.ts";
import type { OutboundEntry } from "../../src/resources/outbound-events/outbound-entry.ts";
import { appendOutbound } from "../../src/resources/outbound-events/outbound-log.ts";
import { cliActor, type TestAnswer, type TestApi } from "./api.ts";
import type { GatewayWorld } from "./gateway.ts";
import type { TestIntegration, TestOrganization } from "./world.ts";

export const replayPath = "/api/v1/partner/outbound-events/";

/** An integration of the gateway's organization; returns its id. */
export async function addIntegration(
  { db, clock, organizationId }: GatewayWorld,
  settings: Partial<IntegrationSettings> = {},
): Promise<string> {
  const all = {
    name: "Care Co",
    scopes: allScopes,
    webhookUrl: null,
    webhookEventTypes: [],
    webhookDeviceFilter: [],
    linkHosts: [],
    messagingEnabled: true,
    ...settings,
  };
  const { integration } = await db.transaction((tx) =>
    createIntegration(tx, organizationId, all, cliActor(organizationId), clock.now()),
  );
  return integration.id;
}

export const setIntegration = (
  { db, clock }: TestApi,
  { id: organizationId }: TestOrganization,
  { id }: TestIntegration,
  changed: Partial<IntegrationSettings>,
): Promise<unknown> =>
  db.transaction((tx) => updateIntegration(tx, organizationId, id, changed, cliActor(organizationId), clock.now()));

/** `data` that fits the description, by type. */
export const sampleData = {
  "location.update": {
    location_id: "019ca877-806f-7b0e-8a31-6a1f2c3d4e5f",
    ts: "2026-03-01T08:15:24.000Z",
    device_ts: null,
    received_at: "2026-03-01T08:15:29.903Z",
    lat: 41.902782,
    lng: 12.496366,
    altitude_m: 37,
    speed_kmh: 3.2,
    heading: 118,
    accuracy_m: 12,
    source: "gps",
    satellites: 9,
    is_moving: true,
    carrier: "TIM",
    address: null,
  },
  "alarm.sos": {
    event_id: "3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22",
    event_type: "sos",
    severity: "critical",
    ts: "2026-03-01T08:15:24.000Z",
    message: "SOS pressed",
    battery: 81,
    location: null,
  },
  "device.online": {
    event_id: "3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22",
    is_online: true,
    reason: "connected",
    last_seen_at: "2026-03-01T08:15:29.900Z",
    previous_change_at: null,
  },
  "message.received": {
    message_id: "9a202a7e-4f0a-4b77-8d0e-0b1a4c1f9e22",
    direction: "inbound",
    message_type: "text",
    device_delivery_status: "delivered",
    text: "Hello",
    audio_url: null,
    duration_ms: null,
    sender_name: "Watch 12",
    sender_user_id: null,
    failure_reason: null,
    ts: "2026-03-01T08:15:29.900Z",
  },
  "webhook.test": { message: "Test event", test: true },
} as const;

export type SampleType = keyof typeof sampleData;

/** Writes entries of these types as their sources would, each in the transaction of its own call. */
export function tell(
  { db, clock }: Pick<TestApi, "db" | "clock">,
  { id: organizationId }: TestOrganization,
  types: readonly SampleType[],
  deviceUid = "490154203237518",
): Promise<void> {
  const entries = types.map(
    (type): OutboundEntry => ({
      organizationId,
      type,
      deviceUid,
      occurredAtMs: clock.nowMs(),
      data: sampleData[type],
    }),
  );
  return db.transaction((tx) => appendOutbound(tx, entries, clock.nowMs()));
}

export function replay(api: TestApi, token: string, query: Record<string, string | number> = {}): Promise<TestAnswer> {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) search.set(key, String(value));
  return api.call("GET", `${replayPath}?${search}`, { token });
}
