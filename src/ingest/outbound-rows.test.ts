import type { Client } from "pg";
import { expect, it } from "vitest";
import { allScopes } from "../oauth/scopes.ts";
import type { Lane } from "../outbox/outbound-lanes.ts";
import { noRows } from "./ingest-rows.ts";
import { outboundOf } from "./outbound-rows.ts";

const organizationId = "7b1e1f0c-3a53-4f5b-9f39-4a1f7e0f2c55";
const lane: Lane = {
  integrationId: "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31",
  organizationId,
  lane: 1,
  lastMs: 1000,
  lastSeq: 0,
  pushEpoch: 3,
  scopes: allScopes,
  webhookEventTypes: [],
  messagingEnabled: true,
};

/** A database that locks these lanes. */
function clientOf(rows: Lane[]): { client: Client; asked: unknown[][] } {
  const asked: unknown[][] = [];
  const query = async ({ values }: { values: unknown[] }) => {
    asked.push(values);
    return { rows };
  };
  return { client: { query } as unknown as Client, asked };
}

const entry = (type: "command.ack" | "ecg.recorded") =>
  ({ organizationId, type, deviceUid: "490154203237518", occurredAtMs: 0, data: { type } }) as const;

it("the outbound writer sends no statement for a batch without outbound events", async () => {
  const { client, asked } = clientOf([lane]);
  expect((await outboundOf(client, noRows(), 0)).copy.count).toBe(0);
  expect(asked).toEqual([]);
});

it("the outbound writer adds what the steps of the batch report, as far as the integration receives it", async () => {
  const { client, asked } = clientOf([lane]);
  const { copy, wakeUps } = await outboundOf(
    client,
    { ...noRows(), outbound: [entry("command.ack"), entry("ecg.recorded")] },
    5,
  );
  expect(asked[0]?.slice(0, 2)).toEqual([[organizationId], [2]]);
  expect(copy.count).toBe(1);
  expect(copy.finish().toString()).toContain('"data":{"type":"command.ack"}}');
  expect(wakeUps).toEqual([`select pg_notify('vigil_outbound', '${lane.integrationId}')`]);
});

it("the outbound writer wakes nobody for rows that are not pushed", async () => {
  const { client } = clientOf([{ ...lane, pushEpoch: null }]);
  const { copy, wakeUps } = await outboundOf(client, { ...noRows(), outbound: [entry("command.ack")] }, 5);
  expect([copy.count, wakeUps]).toEqual([1, []]);
});
