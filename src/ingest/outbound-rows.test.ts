import { expect, it } from "vitest";
import { allScopes } from "../oauth/scopes.ts";
import type { Lane } from "../outbox/outbound-lanes.ts";
import { noRows } from "./ingest-rows.ts";
import { lockLanes, outboundOf } from "./outbound-rows.ts";

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

const entry = (type: "command.ack" | "ecg.recorded") =>
  ({ organizationId, type, deviceUid: "490154203237518", occurredAtMs: 0, data: { type } }) as const;

it("the outbound writer locks nothing for a batch without outbound events", () => {
  expect(lockLanes(noRows(), 0)).toBeUndefined();
});

it("the outbound writer adds what the steps of the batch report, as far as the integration receives it", () => {
  const rows = { ...noRows(), outbound: [entry("command.ack"), entry("ecg.recorded")] };
  expect(lockLanes(rows, 5)?.values.slice(0, 2)).toEqual([[organizationId], [2]]);
  const { copy, wakeUps } = outboundOf([lane], rows);
  expect(copy.count).toBe(1);
  expect(copy.finish().toString()).toContain('"data":{"type":"command.ack"}}');
  expect(wakeUps).toEqual([`select pg_notify('vigil_outbound', '${lane.integrationId}')`]);
});

it("the outbound writer wakes nobody for rows that are not pushed", () => {
  const { copy, wakeUps } = outboundOf([{ ...lane, pushEpoch: null }], {
    ...noRows(),
    outbound: [entry("command.ack")],
  });
  expect([copy.count, wakeUps]).toEqual([1, []]);
});
