import type { Client } from "pg";
import { formatUuid } from "../../lib/ids.ts";
import type { DeviceHold } from "../device-memory.ts";
import { readNames } from "../event-store.ts";
import type { BatchRows, EventOwner } from "../ingest-rows.ts";
import type { DeviceRules, RuleFact } from "./device-rules.ts";
import { ruleEvent } from "./rule-events.ts";
import { lockRuleVersions, readDeviceTimes, timeKey, writeRuleStates } from "./rule-store.ts";
import { RulesMoved } from "./rules-moved.ts";

interface Evaluated {
  hold: DeviceHold;
  rules: DeviceRules;
}

/**
 * Writes what the rules of a batch have come to, and adds their events. Most batches end here at once: no state has moved and
 * nothing was found out.
 */
export async function storeRules(
  client: Client,
  rows: BatchRows,
  evaluated: readonly Evaluated[],
  newId: (nowMs: number) => Buffer,
): Promise<void> {
  const moved = evaluated.filter(({ rules }) => rules.hasMoved);
  const found = evaluated.filter(({ rules }) => rules.facts.length > 0);
  if (moved.length === 0 && found.length === 0) return;
  await checkVersions(client, [...new Set([...moved, ...found])]);
  const states = moved.map(({ hold, rules }) => ({ hold, rules: rules.memory, dueMs: rules.dueMs }));
  await writeRuleStates(
    client,
    states.toSorted((a, b) => Buffer.compare(a.hold.deviceIdBytes, b.hold.deviceIdBytes)),
  );
  if (found.length > 0) await addRuleEvents(client, rows, found, newId);
}

async function checkVersions(client: Client, evaluated: readonly Evaluated[]): Promise<void> {
  const used = new Map(evaluated.map(({ hold }) => [hold.device.organizationId, hold.view?.version ?? 0]));
  const current = await lockRuleVersions(client, [...used.keys()].toSorted());
  for (const [organizationId, version] of used) {
    if ((current.get(organizationId) ?? 0) !== version) throw new RulesMoved();
  }
}

async function addRuleEvents(
  client: Client,
  rows: BatchRows,
  found: readonly Evaluated[],
  newId: (nowMs: number) => Buffer,
): Promise<void> {
  const nameOf = await readNames(client, found);
  const earlier = found.flatMap(({ hold, rules }) =>
    rules.facts
      .filter(({ deviceTimeMs }) => deviceTimeMs === undefined)
      .map(({ fact }) => ({ deviceId: hold.device.id, tsMs: fact.tsMs })),
  );
  const deviceTimes = new Map(earlier.length > 0 ? await readDeviceTimes(client, earlier) : []);
  if (earlier.length > 0) {
    for (const { hold, tsMs, deviceTimeMs } of rows.locations) {
      deviceTimes.set(timeKey(hold.device.id, tsMs), deviceTimeMs);
    }
  }
  for (const { hold, rules } of found) {
    const owner = { hold, name: nameOf(hold), newEventId: (nowMs: number) => formatUuid(newId(nowMs)) };
    for (const fact of rules.facts) rows.events.push(ruleEvent(withDeviceTime(fact, hold, deviceTimes), owner));
  }
}

/** The fix that changed the side may have come before the one that confirms it. */
function withDeviceTime(
  found: RuleFact,
  { device }: EventOwner,
  deviceTimes: ReadonlyMap<string, number | null>,
): RuleFact {
  if (found.deviceTimeMs !== undefined) return found;
  return { ...found, deviceTimeMs: deviceTimes.get(timeKey(device.id, found.fact.tsMs)) ?? null };
}
