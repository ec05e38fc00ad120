import type { OutboundEntry } from "../../src/outbox/outbound-entry.ts";
import { appendOutbound } from "../../src/outbox/outbound-log.ts";
import {
  createIntegration,
  type IntegrationSettings,
  updateIntegration,
} from "../../src/resources/organizations/integration-store.ts";
import { cliActor, type TestAnswer, type TestApi } from "./api.ts";
import type { GatewayWorld } from "./gateway.ts";
import { integrationSettings } from "./integration-settings.ts";
import { type SampleType, sampleData } from "./outbound-samples.ts";
import { testSecrets } from "./secrets.ts";
import type { TestIntegration, TestOrganization } from "./world.ts";

export const replayPath = "/api/v1/partner/outbound-events/";

/** An integration of the gateway's organization; returns its id. */
export async function addIntegration(
  { db, clock, organizationId }: GatewayWorld,
  settings: Partial<IntegrationSettings> = {},
): Promise<string> {
  const { integration } = await db.transaction((tx) =>
    createIntegration(
      tx,
      organizationId,
      integrationSettings(settings),
      cliActor(organizationId),
      clock.now(),
      testSecrets,
    ),
  );
  return integration.id;
}

export const setIntegration = (
  { db, clock }: TestApi,
  { id: organizationId }: TestOrganization,
  { id }: TestIntegration,
  changed: Partial<IntegrationSettings>,
): Promise<unknown> =>
  db.transaction((tx) =>
    updateIntegration(tx, organizationId, id, changed, cliActor(organizationId), clock.now(), testSecrets),
  );

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
