import type { Tx } from "../../db/database.ts";
import type { Clock } from "../../lib/clock.ts";
import { uuidV7 } from "../../lib/ids.ts";
import type { OutboundFact } from "../../outbox/outbound-entry.ts";
import type { LocatedPosition } from "../../places/place-store.ts";
import { insertEventRows, outboundFactsOf } from "../event-store.ts";
import type { EventRow } from "../ingest-rows.ts";
import { DeviceRules } from "./device-rules.ts";
import type { RuleBook } from "./rule-book.ts";
import { holdRuleVersions, lockDevices, moveRuleStates, readRules } from "./rule-store.ts";
import { eventsOf } from "./rule-timers.ts";

type OnLocated = (tx: Tx, position: LocatedPosition) => Promise<void>;
/** Appends what partners are told of the position, then what follows from it. */
type Publish = (tx: Tx, position: LocatedPosition, consequences: readonly OutboundFact[]) => Promise<void>;

/**
 * A position that was found by the networks around the device is a fix like any other, at the time at which it was found: one
 * that the service took a quarter of an hour to find is late. Partners hear of the place before its events, and of both in one
 * append: two would lock the rows of integrations in two steps, and deadlock with batches.
 */
export function fencesOfLocated(rules: RuleBook, clock: Clock, publish: Publish): OnLocated {
  return async (tx, position) => {
    const events = position.invalidReason === null ? await evaluate(tx, position, rules, clock.nowMs()) : [];
    await insertEventRows(tx, events);
    await publish(tx, position, outboundFactsOf(events));
  };
}

async function evaluate(tx: Tx, position: LocatedPosition, book: RuleBook, nowMs: number): Promise<EventRow[]> {
  const { deviceId, organizationId, lat, lng, accuracyM, source, ts, deviceTs } = position;
  const [device] = await lockDevices(tx, [deviceId]);
  if (!device || device.is_deleted || device.organization_id !== organizationId) return [];
  const versions = await holdRuleVersions(tx, [organizationId]);
  const [known] = await readRules(tx, [deviceId], nowMs);
  if (!known) return [];
  const organizationRules = await book.atLeast(organizationId, versions.get(organizationId) ?? 0);
  const tools = { isScheduled: book.isScheduled, newEventId: uuidV7 };
  const rules = new DeviceRules(known.rules, organizationRules.viewOf(deviceId), tools);
  const deviceTimeMs = deviceTs?.getTime() ?? null;
  rules.takeFixes([{ lat, lng, accuracyM, source, tsMs: ts.getTime(), deviceTimeMs, receivedAtMs: nowMs }]);
  const { memory, dueMs, hasMoved } = rules;
  if (hasMoved) await moveRuleStates(tx, [{ deviceId, organizationId, rules: memory, dueMs, hasMoved }]);
  return eventsOf(tx, device, rules);
}
