import { expect, it } from "vitest";
import { BinaryArray } from "../db/binary-writer.ts";
import { uuidBytes } from "../lib/ids.ts";
import { allScopes } from "../oauth/scopes.ts";
import type { Lane } from "../outbox/outbound-lanes.ts";
import { noRows } from "./ingest-rows.ts";
import { outboundOf } from "./outbound-rows.ts";

const organizationId = "7b1e1f0c-3a53-4f5b-9f39-4a1f7e0f2c55";
const lane: Lane = {
  integrationId: "8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31",
  organizationId,
  scopes: allScopes,
  webhookEventTypes: [],
  messagingEnabled: true,
  isPushed: false,
};

const entry = (type: "command.ack" | "ecg.recorded") =>
  ({ organizationId, type, deviceUid: "490154203237518", occurredAtMs: 0, data: { type } }) as const;

const nothing = { statements: [], pushed: [] };

it("the outbound writer writes nothing for a batch without outbound events", () => {
  expect(outboundOf([lane], noRows(), 0)).toEqual(nothing);
});

it("the outbound writer writes nothing, and so locks nothing, when no integration receives what there is", () => {
  const rows = { ...noRows(), outbound: [entry("ecg.recorded")] };
  expect(outboundOf([lane], rows, 0)).toEqual(nothing);
  expect(outboundOf([], { ...noRows(), outbound: [entry("command.ack")] }, 0)).toEqual(nothing);
});

it("the outbound writer adds what the steps of the batch report, as far as the integration receives it", () => {
  const rows = { ...noRows(), outbound: [entry("command.ack"), entry("ecg.recorded"), entry("command.ack")] };
  const { statements, pushed } = outboundOf([lane], rows, 5);
  const [statement, ...others] = statements;
  expect(pushed).toEqual([]);
  expect(outboundOf([{ ...lane, isPushed: true }], rows, 5).pushed).toEqual([lane.integrationId]);
  expect(others).toEqual([]);
  const arrays = statement?.values.flatMap((value) => (value instanceof BinaryArray ? [value.toPostgres()] : [])) ?? [];
  const fields = [lane.integrationId, organizationId].map((id) => uuidBytes(id).toString("hex"));
  expect(arrays.slice(0, 3).map((array) => array.subarray(24).toString("hex"))).toEqual([
    ...fields,
    "0000000000000002",
  ]);
  const bytes = Buffer.concat(arrays).toString();
  expect(bytes.split('"data":{"type":"command.ack"}}')).toHaveLength(3);
  expect(bytes).not.toContain("ecg.recorded");
});
