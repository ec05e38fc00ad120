import { uuidBytes } from "../../lib/ids.ts";
import { type EnvelopedEvent, geofenceData, thresholdData } from "../../resources/events/event-envelope.ts";
import { type EventTypeName, eventTypes, type Severity, severities } from "../../resources/events/event-types.ts";
import { isMetricKey, metrics } from "../../resources/telemetry/metric-catalog.ts";
import { labelOf, thresholdScopes } from "../../resources/thresholds/threshold-labels.ts";
import type { FenceFact } from "../../rules/fence.ts";
import type { LastLocation } from "../device-memory.ts";
import type { EventOwner, EventRow } from "../ingest-rows.ts";
import type { FoundThreshold, RuleFact } from "./device-rules.ts";

/** Facts with names and texts (sections 7 and 19.3). */

export interface FactOwner {
  hold: EventOwner;
  /** What people call the device. */
  name: string;
  newEventId(nowMs: number): string;
}

const fenceTypes = { enter: "geofence_enter", exit: "geofence_exit", dwell: "geofence_dwell" } as const;
const fenceTitles = { enter: "Entered", exit: "Left", dwell: "Stayed in" } as const;
const fenceVerbs = { enter: "entered", exit: "left", dwell: "stayed in" } as const;

interface EventParts extends EnvelopedEvent {
  hold: EventOwner;
  tsMs: number;
  deviceTimeMs: number | null;
  title: string;
}

const rowOf = (parts: EventParts, severity: number, nowMs: number) => ({
  hold: parts.hold,
  id: uuidBytes(parts.id),
  typeNumber: eventTypes[parts.eventType].number,
  severity,
  tsMs: parts.tsMs,
  deviceTimeMs: parts.deviceTimeMs,
  receivedAtMs: nowMs,
  title: parts.title,
  message: parts.message,
  location: parts.location,
});

export function ruleEvent(found: RuleFact, owner: FactOwner): EventRow {
  return found.kind === "fence" ? fenceEvent(found.fact, owner, found) : thresholdEvent(found, owner);
}

function fenceEvent(fact: FenceFact, owner: FactOwner, found: RuleFact): EventRow {
  const { hold, name, newEventId } = owner;
  const { atMs, deviceTimeMs = null } = found;
  const { kind, fence, tsMs, place, dwellSeconds } = fact;
  const eventType: EventTypeName = fenceTypes[kind];
  const severity = eventTypes[eventType].severity;
  const distanceM = Math.round(fact.distanceM);
  const location: LastLocation = {
    lat: place.lat,
    lng: place.lng,
    accuracy_m: place.accuracyM,
    source: place.source,
    ts: new Date(place.tsMs).toISOString(),
  };
  const parts: EventParts = {
    hold,
    id: newEventId(atMs),
    eventType,
    severity,
    ts: new Date(tsMs).toISOString(),
    tsMs,
    deviceTimeMs,
    title: `${fenceTitles[kind]} ${fence.name}`,
    message: `${name} ${fenceVerbs[kind]} ${fence.name}`,
    location,
  };
  const geofence = { id: fence.id, name: fence.name, fence_type: "circle", scope: fence.scope } as const;
  return {
    ...rowOf(parts, severities[severity], atMs),
    data: { distance_m: distanceM, ...(dwellSeconds === null ? {} : { dwell_seconds: dwellSeconds }) },
    fence: { id: fence.id, name: fence.name },
    outbound: geofenceData(parts, geofence, distanceM, dwellSeconds ?? undefined),
  };
}

function thresholdEvent(found: FoundThreshold, { hold }: FactOwner): EventRow {
  const { fact, deviceTimeMs, atMs, battery, location } = found;
  const { kind, rule, bound, value, tsMs, eventId, breachEventId } = fact;
  const { metricKey, low, high } = rule;
  const isBreach = kind === "breach";
  const severity: Severity = isBreach ? severityName(rule.severity) : "info";
  const side = `${bound === "high" ? "above" : "below"} ${bound === "high" ? high : low}`;
  const parts: EventParts = {
    hold,
    id: eventId,
    eventType: isBreach ? "threshold_breach" : "threshold_cleared",
    severity,
    ts: new Date(tsMs).toISOString(),
    tsMs,
    deviceTimeMs,
    title: isBreach ? `${metricKey} ${side}` : `${metricKey} back in range`,
    message: isBreach ? `${metricKey} ${value} ${side}` : `${metricKey} ${value} back in range`,
    location,
  };
  const threshold = { id: rule.id, scope: labelOf(thresholdScopes, rule.scope), low, high };
  const unit = isMetricKey(metricKey) ? metrics[metricKey].unit : "";
  const breachEvent = breachEventId === null ? {} : { breachEventId };
  return {
    ...rowOf(parts, severities[severity], atMs),
    data: { bound, low, high, unit, ...(breachEventId === null ? {} : { breach_event_id: breachEventId }) },
    threshold: { id: rule.id, metricKey, value },
    outbound: thresholdData(parts, { metricKey, value, unit, bound, threshold, ...breachEvent, battery }),
  };
}

const severityName = (number: number): Severity =>
  (Object.keys(severities) as Severity[]).find((name) => severities[name] === number) ?? "warning";
