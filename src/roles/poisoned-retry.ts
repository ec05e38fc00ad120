import type { Client } from "pg";
import type { Session, SessionDevice } from "../codecs/protocol-definition.ts";
import { protocols } from "../codecs/protocols.ts";
import { type DecodedFrame, StreamDecoder } from "../codecs/stream-decoder.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { Config } from "../config.ts";
import { type Database, onClient } from "../db/database.ts";
import { Listener } from "../db/listener.ts";
import { deviceServices } from "../gateway/device-services.ts";
import { makeBatch, type StoreOptions, storeBatch } from "../ingest/batch.ts";
import { failureOf, reasonOf } from "../ingest/batch-failure.ts";
import { type KnownState, openHold } from "../ingest/device-hold.ts";
import { deletePoisoned, type PoisonedPacket } from "../ingest/poison-store.ts";
import { RuleBook } from "../ingest/rules/rule-book.ts";
import type { Clock } from "../lib/clock.ts";
import { makeUuidV7Source } from "../lib/ids.ts";
import type { Logger } from "../lib/logger.ts";
import { Metrics } from "../lib/metrics.ts";
import { ZoneOffsets } from "../lib/zone-offset.ts";
import { type Catalog, loadCatalog } from "../resources/catalog/catalog.ts";
import { metricRanges } from "../resources/catalog/metric-ranges.ts";
import { findWireDevice, type WireDevice } from "../resources/devices/wire-device.ts";
import { loadCarriers } from "../resources/locations/carrier.ts";

export interface RetryResult {
  retried: number;
  stored: number;
  failed: number;
}

export interface RetryParts {
  db: Database;
  clock: Clock;
  log: Logger;
  config: Config;
  /** Told of each packet that still cannot be stored. */
  onFailure(packet: PoisonedPacket, reason: string): void;
}

const maxAttempts = 5;

/** Stores packets that were set aside, as if they came now, each with its own time of reception; the oldest first. */
export async function retryPoisoned(parts: RetryParts, packets: readonly PoisonedPacket[]): Promise<RetryResult> {
  const { db, log, config } = parts;
  const listener = new Listener(db, log);
  const catalog = loadCatalog();
  const options: StoreOptions = {
    rules: new RuleBook({ db, listener, log, metrics: new Metrics() }),
    steps: deviceServices({ ...config, catalog }).steps,
    newId: makeUuidV7Source(),
    ranges: metricRanges(catalog),
    carrierName: loadCarriers(),
    isLocating: config.geolocateUrl !== undefined,
    isGeocoding: config.geocoderUrl !== undefined,
  };
  const result = { retried: 0, stored: 0, failed: 0 };
  const client = await db.connect();
  try {
    for (const packet of [...packets].reverse()) {
      result.retried++;
      const reason = await retryOne(parts, client, packet, options, catalog);
      if (reason === undefined) result.stored++;
      else {
        result.failed++;
        parts.onFailure(packet, reason);
      }
    }
  } finally {
    await client.end();
    await listener.close();
  }
  return result;
}

/** Undefined: it is stored, and no longer set aside. */
async function retryOne(
  { db, clock }: RetryParts,
  client: Client,
  packet: PoisonedPacket,
  options: StoreOptions,
  catalog: Catalog,
): Promise<string | undefined> {
  const device = packet.uid === null ? undefined : await findWireDevice(db.point, packet.protocol, packet.uid);
  if (device?.id !== packet.deviceId || device.organization_id !== packet.organizationId) return "no such device";
  const frame = frameOf(packet, device, catalog);
  if (!frame) return "the frame cannot be read";
  for (let attempt = 1; ; attempt++) {
    try {
      await storeOne(db, client, clock, packet, device, frame, options);
      return undefined;
    } catch (error) {
      await client.query("rollback");
      const kind = failureOf(error);
      if ((kind !== "again" && kind !== "stale") || attempt >= maxAttempts) return reasonOf(error);
    }
  }
}

/** Under the connection that the device has: it is not disturbed. */
async function storeOne(
  db: Database,
  client: Client,
  clock: Clock,
  packet: PoisonedPacket,
  { id, organization_id: organizationId, uid, name }: WireDevice,
  frame: DecodedFrame,
  options: StoreOptions,
): Promise<void> {
  const state = await db.one<KnownState & { session_epoch: number; is_online: boolean }>`
    select session_epoch, is_online, last_location, last_status, newest_report_at from device_state
    where organization_id = ${organizationId} and device_id = ${id}`;
  const nowMs = clock.nowMs();
  const opened = await openHold(db.point, { id, organizationId, uid, name }, state.session_epoch, state, nowMs);
  const hold = { ...opened, isOnline: state.is_online };
  const { protocol, receivedAt } = packet;
  const owner = { packetSettled: () => undefined };
  const batch = makeBatch([{ hold, protocol, frame, receivedAtMs: receivedAt.getTime(), owner }]);
  const steps = [
    ...options.steps,
    async (own: Client): Promise<void> => {
      await deletePoisoned(onClient(own), organizationId, packet.id);
      // Whoever holds the connection writes the state from memory: under another version it reads it again first.
      await onClient(own).run`
        update device_state set rule_version = rule_version + 1
        where organization_id = ${organizationId} and device_id = ${id}`;
    },
  ];
  // Whether it is one is not known here: what a distributed database takes, every one does.
  await storeBatch(client, batch, { ...options, steps, isDistributed: true }, nowMs);
}

/** The frame as it is read today; without its alarms where they were already raised. */
function frameOf(packet: PoisonedPacket, device: WireDevice, catalog: Catalog): DecodedFrame | undefined {
  const protocol = protocols.find(({ slug }) => slug === packet.protocol);
  if (!protocol) return undefined;
  const nowMs = packet.receivedAt.getTime();
  const read = (known: SessionDevice | undefined): DecodedFrame | undefined => {
    const session: Session = { nowMs, device: known, memory: new Map() };
    const decoder = new StreamDecoder(protocol);
    decoder.push(packet.frame);
    return decoder.decode(session).frames[0];
  };
  // A frame may name its device otherwise than by the IMEI.
  const login = read(undefined)?.messages.find(({ kind }) => kind === "login");
  const frame = read({
    imei: device.uid,
    id: login?.kind === "login" ? login.id : device.uid,
    utcOffsetMinutes: new ZoneOffsets().minutesAt(device.timezone, nowMs),
    traits: catalog.findModel(device.device_model_slug) ? catalog.traitsOf(device.device_model_slug) : {},
    locale: device.default_locale.slice(0, 2),
    outstandingSerials: new Set(),
  });
  if (!frame || !packet.hasEvent) return frame;
  const others = (messages: readonly TrackerMessage[]): TrackerMessage[] =>
    messages.filter(({ kind }) => kind !== "alarm");
  const { reports } = frame;
  return {
    ...frame,
    messages: others(frame.messages),
    ...(reports ? { reports: reports.map((one) => ({ ...one, messages: others(one.messages) })) } : {}),
  };
}
