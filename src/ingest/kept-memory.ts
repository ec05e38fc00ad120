import type { DeviceHold, DeviceMemory, LastLocation, LastStatus, RecentFix } from "./device-memory.ts";
import type { RuleMemory } from "./rules/rule-memory.ts";

type Writable<T> = { -readonly [key in keyof T]: T[key] };
type Place = NonNullable<RuleMemory["fences"]["last"]>;
type Readings = Record<string, { value: number; ts: string | null }>;

/**
 * What a device remembers, in objects of its own that each commit writes into. A new memory for each packet would live until the
 * next packet of its device, which is just long enough for a collection to copy it: half of what collections copied was memories
 * of devices (measured). Only whoever commits may write, and nobody may keep a part of it beyond his own batch.
 */
export class KeptMemory {
  readonly #fixes: Writable<RecentFix>[] = [];
  #location: LastLocation | null = null;
  #status: Readings = {};
  #place: Writable<Place> | null = null;
  readonly #rules: RuleMemory;
  readonly #memory: DeviceMemory;

  constructor(first: DeviceMemory) {
    this.#rules = { ...first.rules, fences: { ...first.rules.fences } };
    this.#memory = { ...first };
  }

  /** The same object each time. What is not written into stays what it was given, and is never changed. */
  take(next: DeviceMemory): DeviceMemory {
    const memory = this.#memory;
    memory.fixes = this.#takeFixes(next.fixes);
    memory.alarms = next.alarms;
    memory.lastLocation = this.#takeLocation(next.lastLocation);
    memory.status = this.#takeStatus(next.status);
    memory.lastSeenMs = next.lastSeenMs;
    memory.newestReportMs = next.newestReportMs;
    memory.ruleVersion = next.ruleVersion;
    memory.rules = this.#takeRules(next.rules);
    return memory;
  }

  /** The older one first: it may be the one that was the newer before. */
  #takeFixes(next: readonly RecentFix[]): readonly RecentFix[] {
    const own = this.#fixes;
    if (own.length > next.length) own.length = next.length;
    for (let index = 0; index < next.length; index++) {
      const { id, tsMs, lat, lng, accuracyM } = next[index] as RecentFix;
      const fix = own[index];
      if (!fix) {
        own.push({ id: ownBytes(id), tsMs, lat, lng, accuracyM });
        continue;
      }
      fix.id.set(id);
      fix.tsMs = tsMs;
      fix.lat = lat;
      fix.lng = lng;
      fix.accuracyM = accuracyM;
    }
    return own;
  }

  #takeLocation(next: LastLocation | null): LastLocation | null {
    if (next === null) return null;
    const own = this.#location;
    if (own === null) {
      this.#location = { ...next };
      return this.#location;
    }
    own.lat = next.lat;
    own.lng = next.lng;
    own.accuracy_m = next.accuracy_m;
    own.source = next.source;
    own.ts = next.ts;
    return own;
  }

  #takeStatus(next: LastStatus): LastStatus {
    for (const metric in this.#status) {
      if (next[metric]) continue;
      this.#status = {};
      break;
    }
    const own = this.#status;
    for (const metric in next) {
      const reading = next[metric];
      if (!reading) continue;
      const known = own[metric];
      if (!known) own[metric] = { value: reading.value, ts: reading.ts };
      else {
        known.value = reading.value;
        known.ts = reading.ts;
      }
    }
    return own;
  }

  #takeRules({ fences, thresholds, thresholdsAsOf, isBatteryLow }: RuleMemory): RuleMemory {
    const own = this.#rules;
    own.fences.last = this.#takePlace(fences.last);
    own.fences.evaluatedFixes = fences.evaluatedFixes;
    own.fences.states = fences.states;
    own.thresholds = thresholds;
    own.thresholdsAsOf = thresholdsAsOf;
    own.isBatteryLow = isBatteryLow;
    return own;
  }

  #takePlace(next: Place | null): Place | null {
    if (next === null) return null;
    const own = this.#place;
    if (own === null) {
      this.#place = { ...next };
      return this.#place;
    }
    own.lat = next.lat;
    own.lng = next.lng;
    own.tsMs = next.tsMs;
    return own;
  }
}

/** Takes up what a batch has found of a device, once it is committed. */
export function keepMemory(hold: DeviceHold, next: DeviceMemory): void {
  hold.kept ??= new KeptMemory(next);
  hold.memory = hold.kept.take(next);
}

/** Not a view of the pool that ids are made in. */
function ownBytes(id: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(id.length);
  bytes.set(id);
  return bytes;
}
