import type { Tx } from "../db/database.ts";
import { makeIsoTime } from "../lib/iso-time.ts";
import { wakeLanes } from "./lane-wakes.ts";
import { insertNumbered, maxRowsPerStatement, type UnnumberedRow } from "./numbered-rows.ts";
import { factOf, type OutboundEntry, type OutboundFact } from "./outbound-entry.ts";
import { isLogged } from "./outbound-gate.ts";
import { type Lane, lanesOf } from "./outbound-lanes.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/**
 * Writes the rows of what happened, in the transaction in which it happened. Call it last: the rows of all integrations of the
 * organization stay locked until the commit, and whoever comes next waits. Call it once: lanes are locked in the order of their
 * ids, and a second call may want one before those that the first has.
 */
export const appendOutbound = (tx: Tx, entries: readonly OutboundEntry[], nowMs: number): Promise<void> =>
  appendFacts(tx, entries.map(factOf), nowMs);

export async function appendFacts(tx: Tx, facts: readonly OutboundFact[], nowMs: number): Promise<void> {
  if (facts.length === 0) return;
  const organizationIds = [...new Set(facts.map(({ organizationId }) => organizationId))];
  const writer = new OutboundWriter(await tx.many<Lane>(lanesOf(organizationIds)));
  for (const fact of facts) writer.add(fact);
  const { traceparent } = tx;
  const traceOf = traceparent === null ? null : () => traceparent;
  for (const rows of writer.parts()) await tx.run(insertNumbered(rows, nowMs, traceOf));
  const pushed = writer.pushed();
  if (pushed.length > 0) await wakeLanes(tx, pushed);
}

/** A lane with what does not change from row to row. */
interface OpenLane {
  lane: Lane;
  /** Whether rows of a type are written; filled as types come. */
  logs: Map<WebhookEventType, boolean>;
}

/** Turns facts into rows for each lane that may have them, in the order of the facts. */
export class OutboundWriter {
  readonly rows: UnnumberedRow[] = [];
  readonly iso = makeIsoTime();
  readonly #lanes = new Map<string, OpenLane[]>();

  constructor(lanes: readonly Lane[]) {
    for (const lane of lanes) {
      const open = { lane, logs: new Map<WebhookEventType, boolean>() };
      const others = this.#lanes.get(lane.organizationId);
      if (others) others.push(open);
      else this.#lanes.set(lane.organizationId, [open]);
    }
  }

  /** Whether any integration of the organization receives such facts. */
  wants(organizationId: string, type: WebhookEventType): boolean {
    return this.#lanes.get(organizationId)?.some((open) => doesLog(open, type)) ?? false;
  }

  add(fact: OutboundFact): void {
    const lanes = this.#lanes.get(fact.organizationId);
    if (!lanes) return;
    const { type, deviceUid, json } = fact;
    const middle = `","type":"${type}","occurred_at":"${this.iso(fact.occurredAtMs)}","partner_integration_id":"`;
    const end = `","device":{"uid":"${deviceUid}","imei":"${deviceUid}"},"data":${json}}`;
    for (const open of lanes) {
      if (!doesLog(open, type)) continue;
      const { lane } = open;
      this.rows.push({ lane, fact, rest: `${middle}${lane.integrationId}${end}` });
    }
  }

  /** The integrations to whose webhooks rows go. */
  pushed(): string[] {
    return [...new Set(this.rows.flatMap(({ lane }) => (lane.isPushed ? [lane.integrationId] : [])))];
  }

  /** The rows, as many at a time as one statement takes. Several statements lock lanes in the order in which one does. */
  *parts(): Generator<UnnumberedRow[]> {
    const { rows } = this;
    const ordered = rows.length > maxRowsPerStatement ? rows.toSorted(byLane) : rows;
    for (let from = 0; from < ordered.length; from += maxRowsPerStatement)
      yield ordered.slice(from, from + maxRowsPerStatement);
  }
}

/** The rows of a lane stay in their order. */
function byLane({ lane: { integrationId: a } }: UnnumberedRow, { lane: { integrationId: b } }: UnnumberedRow): number {
  return a < b ? -1 : Number(a > b);
}

function doesLog({ lane, logs }: OpenLane, type: WebhookEventType): boolean {
  let isWritten = logs.get(type);
  if (isWritten === undefined) {
    isWritten = isLogged(type, lane);
    logs.set(type, isWritten);
  }
  return isWritten;
}
