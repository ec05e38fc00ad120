import type { Tx } from "../db/database.ts";
import { notify } from "../db/listener.ts";
import { makeIsoTime } from "../lib/iso-time.ts";
import { type LaneId, makeLaneIds } from "./lane-ids.ts";
import { factOf, type OutboundEntry, type OutboundFact } from "./outbound-entry.ts";
import { isLogged } from "./outbound-gate.ts";
import { type Lane, reserveLanes } from "./outbound-lanes.ts";
import type { WebhookEventType } from "./webhook-event-types.ts";

/** Hears which integration has rows to push. A wake-up that is lost is made up for by a sweep. */
export const outboundChannel = "vigil_outbound";

export interface OutboundRow {
  lane: Lane;
  id: LaneId;
  fact: OutboundFact;
  /** The envelope of section 19.2. */
  body: string;
}

/**
 * Writes the rows of what happened, in the transaction in which it happened. Call it last: the rows of all integrations of the
 * organization stay locked until the commit, and whoever comes next waits.
 */
export const appendOutbound = (tx: Tx, entries: readonly OutboundEntry[], nowMs: number): Promise<void> =>
  appendFacts(tx, entries.map(factOf), nowMs);

export async function appendFacts(tx: Tx, facts: readonly OutboundFact[], nowMs: number): Promise<void> {
  if (facts.length === 0) return;
  const counts = new Map<string, number>();
  for (const { organizationId } of facts) counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  const writer = new OutboundWriter(await tx.many<Lane>(reserveLanes(counts, nowMs)));
  for (const fact of facts) writer.add(fact);
  const { rows } = writer;
  if (rows.length === 0) return;
  await tx.run`
    insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, push_epoch, body, trace)
    select *, ${tx.traceparent}::text from unnest(${rows.map(({ lane }) => lane.integrationId)}::uuid[], ${rows.map(({ id }) => id.text)}::uuid[],
      ${rows.map(({ lane }) => lane.organizationId)}::uuid[], ${rows.map(({ fact }) => fact.deviceUid)}::text[],
      ${rows.map(({ fact }) => fact.type)}::text[],
      ${rows.map(({ fact }) => new Date(fact.occurredAtMs))}::timestamptz[],
      ${rows.map(({ lane }) => lane.pushEpoch)}::int[], ${rows.map(({ body }) => body)}::text[])`;
  for (const integrationId of writer.pushed()) await notify(tx, outboundChannel, integrationId);
}

/** A lane with what does not change from row to row. */
interface OpenLane {
  lane: Lane;
  nextId: () => LaneId;
  /** Whether rows of a type are written; filled as types come. */
  logs: Map<WebhookEventType, boolean>;
}

/** Turns facts into rows for each lane that may have them, in the order of the facts. */
export class OutboundWriter {
  readonly rows: OutboundRow[] = [];
  readonly iso = makeIsoTime();
  readonly #lanes = new Map<string, OpenLane[]>();

  constructor(lanes: readonly Lane[]) {
    for (const lane of lanes) {
      const open = { lane, nextId: makeLaneIds(lane), logs: new Map<WebhookEventType, boolean>() };
      const others = this.#lanes.get(lane.organizationId);
      if (others) others.push(open);
      else this.#lanes.set(lane.organizationId, [open]);
    }
  }

  /** No integration receives anything: facts need not be made. */
  get isIdle(): boolean {
    return this.#lanes.size === 0;
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
      const id = open.nextId();
      this.rows.push({ lane, id, fact, body: `{"id":"${id.text}${middle}${lane.integrationId}${end}` });
    }
  }

  /** Integrations whose rows are to be pushed. */
  pushed(): string[] {
    const lanes = new Set(this.rows.map(({ lane }) => lane));
    return [...lanes].flatMap(({ integrationId, pushEpoch }) => (pushEpoch === null ? [] : [integrationId]));
  }
}

function doesLog({ lane, logs }: OpenLane, type: WebhookEventType): boolean {
  let isWritten = logs.get(type);
  if (isWritten === undefined) {
    isWritten = isLogged(type, lane);
    logs.set(type, isWritten);
  }
  return isWritten;
}
