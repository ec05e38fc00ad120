import type { Alarm, Fix, TrackerMessage, Vitals } from "../codecs/tracker-message.ts";
import { formatUuid } from "../lib/ids.ts";
import type { IsoTime } from "../lib/iso-time.ts";
import { addressJob, locateJob, type PlaceJob } from "../places/place-job.ts";
import type { ScheduleCheck } from "../rules/fence-schedule.ts";
import { isLate } from "../rules/lateness.ts";
import { alarmEvent } from "./alarm-event.ts";
import {
  batteryOf,
  type DeviceHold,
  type DeviceMemory,
  type LastLocation,
  type LastStatus,
  type RecentFix,
} from "./device-memory.ts";
import { tellKey } from "./frame-keys.ts";
import type { BatchRows, LocationRow, StateRow } from "./ingest-rows.ts";
import { withAlarm } from "./rules/alarm-rules.ts";
import { DeviceRules } from "./rules/device-rules.ts";
import { invalidReason, isJump, isMoving } from "./rules/fix-rules.ts";
import type { RuleView } from "./rules/organization-rules.ts";
import { plausibleTime } from "./rules/time-rule.ts";
import { UnstorablePacket } from "./unstorable-packet.ts";

export interface EvaluateOptions {
  /** A UUIDv7 of the time. */
  newId(nowMs: number): Buffer;
  /** The same as text. */
  newEventId(nowMs: number): string;
  /** Accepted values of the ten metrics (section 6). */
  ranges: ReadonlyMap<string, { min: number; max: number }>;
  carrierName(mcc: number, mnc: number): string | null;
  /** A geolocation service is configured: reports of cells and Wi-Fi are looked up. */
  isLocating: boolean;
  /** A geocoder is configured: valid locations get an address. */
  isGeocoding: boolean;
  isScheduled: ScheduleCheck;
  iso: IsoTime;
}

/** Most lists of a packet have one entry. One that is pushed to an empty array makes room for seventeen. */
const none: never[] = [];
function append<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

const isPowerOff = (message: TrackerMessage): boolean => message.kind === "alarm" && message.type === "power_off";

/**
 * The packets of one device in one batch, one after the other: messages in, rows and the device's next memory out. Pure but for
 * the ids of the rows; the hold itself is moved on only by whoever commits.
 */
export class DeviceEvaluation {
  readonly hold: DeviceHold;
  /** A copy, which is written to. */
  readonly memory: DeviceMemory;
  readonly #options: EvaluateOptions;
  readonly #rows: BatchRows;
  readonly #state: StateRow;
  /** Rows of this batch, to be corrected when a later fix of the same batch shows one to be an outlier. */
  #ownFixes: LocationRow[] = none;
  /** Of this batch; undefined: nothing was read. */
  #status: Record<string, LastStatus[string]> | undefined;
  readonly rules: DeviceRules;

  constructor(hold: DeviceHold, rows: BatchRows, view: RuleView, options: EvaluateOptions) {
    this.hold = hold;
    this.memory = { ...hold.memory };
    this.rules = new DeviceRules(hold.memory.rules, view, options);
    this.#options = options;
    this.#rows = rows;
    this.#state = {
      hold,
      presence: none,
      lastSeenMs: 0,
      status: null,
      battery: null,
      lastLocation: null,
      locatedMs: null,
      newestReportMs: null,
      firmware: null,
    };
    rows.states.push(this.#state);
  }

  /** Any packet, also a resent one, is a sign of life; a power-off notice is the last one. */
  seen(messages: readonly TrackerMessage[], receivedAtMs: number): void {
    const isOnline = this.hold.isOnline ?? !messages.some(isPowerOff);
    this.#state.lastSeenMs = Math.max(this.#state.lastSeenMs, receivedAtMs);
    const { presence } = this.#state;
    if (presence.at(-1)?.isOnline === isOnline) return;
    this.#state.presence = append(presence, { isOnline, atMs: receivedAtMs });
  }

  /** The latest time of the device's clock, of reports that are stored now. */
  noteNewest(reportMs: number): void {
    this.#state.newestReportMs = reportMs;
    this.memory.newestReportMs = reportMs;
  }

  /** A report that was not stored before. Its positions tell its key, where it has one. */
  take(messages: readonly TrackerMessage[], receivedAtMs: number, key: string | undefined): void {
    this.seen(messages, receivedAtMs);
    let fixes: { fix: Fix; row: LocationRow | undefined }[] = none;
    let alarms: Alarm[] = none;
    const data: Record<string, unknown> = {};
    let vitalsTimeMs: number | null = null;
    for (const message of messages) {
      if (message.kind === "fix") {
        fixes = append(fixes, { fix: message, row: this.#takeFix(message, receivedAtMs, key) });
        if (message.gps?.satellites != null) data.satellites ??= message.gps.satellites;
        vitalsTimeMs ??= message.deviceTimeMs;
      } else if (message.kind === "vitals") {
        Object.assign(data, (message as Vitals).metrics, message.extra);
        vitalsTimeMs = message.deviceTimeMs ?? vitalsTimeMs;
      } else if (message.kind === "alarm") alarms = append(alarms, message);
      else if (message.kind === "info" && message.firmware !== undefined) this.#state.firmware = message.firmware;
    }
    const values = this.#takeData(data, vitalsTimeMs, receivedAtMs);
    for (const { fix } of fixes) if (fix.gps === null) this.#locate(fix, receivedAtMs);
    const place = fixes.find(({ row }) => row !== undefined && row.invalidReason === null)?.row;
    this.#takeBattery(values.bat ?? null, alarms, vitalsTimeMs, place, receivedAtMs);
    for (const alarm of alarms) if (alarm.type !== "low_battery") this.#takeAlarm(alarm, place, receivedAtMs);
    this.#takeRules(fixes, values, vitalsTimeMs, place, receivedAtMs);
  }

  #takeRules(
    fixes: readonly { row: LocationRow | undefined }[],
    values: Readonly<Record<string, number>>,
    deviceTimeMs: number | null,
    place: LocationRow | undefined,
    receivedAtMs: number,
  ): void {
    let valid: LocationRow[] = none;
    for (const { row } of fixes) if (row && row.invalidReason === null) valid = append(valid, row);
    this.rules.takeFixes(valid.length > 1 ? valid.sort((a, b) => a.tsMs - b.tsMs) : valid);
    this.rules.takeReadings({
      values,
      receivedAtMs,
      deviceTimeMs,
      tsMs: plausibleTime(deviceTimeMs, receivedAtMs),
      context: () => ({ battery: batteryOf(this.memory), location: this.#placeOf(place) }),
    });
  }

  /** Raised once (section 7), by the device itself or by the level. */
  #takeBattery(
    percent: number | null,
    alarms: readonly Alarm[],
    deviceTimeMs: number | null,
    place: LocationRow | undefined,
    receivedAtMs: number,
  ): void {
    const alarm = alarms.find(({ type }) => type === "low_battery");
    if (percent === null && !alarm) return;
    const isLatePacket = isLate(plausibleTime(deviceTimeMs, receivedAtMs), receivedAtMs);
    if (!this.rules.takeBattery(percent, alarm !== undefined, isLatePacket)) return;
    if (alarm) this.#takeAlarm(alarm, place, receivedAtMs);
    else this.#addAlarm({ kind: "alarm", type: "low_battery", code: "", deviceTimeMs }, place, receivedAtMs);
  }

  /** To be called after the last packet: what depends on the whole batch. */
  finish(): void {
    this.memory.rules = this.rules.memory;
    this.memory.lastSeenMs = this.#state.lastSeenMs;
    const newest = this.#newestFix();
    if (this.#options.isGeocoding) {
      for (const row of this.#ownFixes) if (row.invalidReason === null) this.#wantAddress(row);
    }
    if (!newest) return;
    const location = this.#lastLocationOf(newest);
    this.#state.lastLocation = location;
    this.#state.locatedMs = newest.tsMs;
    this.memory.lastLocation = newerOf(this.memory.lastLocation, location);
  }

  #newestFix(): LocationRow | undefined {
    let newest: LocationRow | undefined;
    for (const row of this.#ownFixes) {
      if (row.invalidReason === null && (!newest || row.tsMs >= newest.tsMs)) newest = row;
    }
    return newest;
  }

  #takeFix(fix: Fix, receivedAtMs: number, key: string | undefined): LocationRow | undefined {
    const { gps } = fix;
    if (gps === null) return undefined;
    if (!Number.isFinite(gps.lat) || !Number.isFinite(gps.lng))
      throw new UnstorablePacket("coordinates are not numbers");
    const network = fix.network ?? fix.cells[0] ?? null;
    const tsMs = plausibleTime(fix.deviceTimeMs, receivedAtMs);
    const id = this.#options.newId(receivedAtMs);
    if (key !== undefined) tellKey(id, key);
    const recent: RecentFix = {
      id,
      tsMs,
      lat: gps.lat,
      lng: gps.lng,
      accuracyM: gps.accuracyM,
    };
    const reason = invalidReason(gps);
    const row: LocationRow = {
      hold: this.hold,
      id: recent.id,
      tsMs,
      deviceTimeMs: fix.deviceTimeMs,
      receivedAtMs,
      lat: gps.lat,
      lng: gps.lng,
      altitudeM: gps.altitudeM,
      speedKmh: gps.speedKmh,
      heading: smallOrNull(gps.heading),
      accuracyM: gps.accuracyM,
      source: "gps",
      satellites: smallOrNull(gps.satellites),
      invalidReason: reason,
      isMoving: reason === null ? isMoving(gps, recent, this.memory.fixes.at(-1)) : null,
      mcc: smallOrNull(network?.mcc),
      mnc: smallOrNull(network?.mnc),
      carrier: network ? this.#options.carrierName(network.mcc, network.mnc) : null,
    };
    this.#rows.locations.push(row);
    if (reason === null) {
      this.#ownFixes = append(this.#ownFixes, row);
      this.#remember(recent);
    }
    return row;
  }

  /** Fixes that were uploaded late stand before the newest one and say nothing of it. */
  #remember(fix: RecentFix): void {
    const [before, newest] = this.memory.fixes.length === 2 ? this.memory.fixes : [undefined, this.memory.fixes[0]];
    if (newest && fix.tsMs < newest.tsMs) return;
    if (before && newest && isJump(before, newest, fix)) {
      const own = this.#ownFixes.find((row) => row.id === newest.id);
      if (own) own.invalidReason = "implausible_jump";
      else this.#rows.jumps.push({ hold: this.hold, id: newest.id, tsMs: newest.tsMs });
      this.memory.fixes = [before, fix];
    } else this.memory.fixes = newest ? [newest, fix] : [fix];
  }

  /** The readings that are in their range. */
  #takeData(data: Record<string, unknown>, deviceTimeMs: number | null, receivedAtMs: number): Record<string, number> {
    const values: Record<string, number> = {};
    const keys = Object.keys(data);
    if (keys.length === 0) return values;
    this.#rows.telemetry.push({
      hold: this.hold,
      id: this.#options.newId(receivedAtMs),
      receivedAtMs,
      deviceTimeMs,
      data,
    });
    let ts: string | undefined;
    for (const key of keys) {
      const range = this.#options.ranges.get(key);
      const value = data[key];
      if (!range || typeof value !== "number" || !(value >= range.min && value <= range.max)) continue;
      values[key] = value;
      ts ??= this.#options.iso(receivedAtMs);
      this.#setStatus(key, { value, ts });
      if (key === "bat") this.#state.battery = value;
    }
    return values;
  }

  #setStatus(key: string, reading: LastStatus[string]): void {
    if (this.#status === undefined) {
      this.#status = { ...this.memory.status };
      this.memory.status = this.#status;
      // Beside a connection, what these packets say themselves is all that they may write.
      this.#state.status = this.hold.isOnline === undefined ? this.#status : {};
    }
    this.#status[key] = reading;
    if (this.#state.status !== this.#status) this.#state.status = { ...this.#state.status, [key]: reading };
  }

  #takeAlarm(alarm: Alarm, place: LocationRow | undefined, receivedAtMs: number): void {
    const tsMs = plausibleTime(alarm.deviceTimeMs, receivedAtMs);
    const alarms = withAlarm(this.memory.alarms, alarm, tsMs, receivedAtMs);
    if (!alarms) return;
    this.memory.alarms = alarms;
    this.#addAlarm(alarm, place, receivedAtMs);
  }

  #addAlarm(alarm: Alarm, place: LocationRow | undefined, receivedAtMs: number): void {
    const battery = batteryOf(this.memory);
    const id = this.#options.newId(receivedAtMs);
    this.#rows.events.push(alarmEvent(this.hold, id, alarm, { battery, location: this.#placeOf(place) }, receivedAtMs));
  }

  /** Where the device was when it spoke: the fix of the same packet, else the newest one known. */
  #placeOf(own: LocationRow | undefined): LastLocation | null {
    if (own) return this.#lastLocationOf(own);
    const newest = this.#newestFix();
    return newest ? newerOf(this.memory.lastLocation, this.#lastLocationOf(newest)) : this.memory.lastLocation;
  }

  #lastLocationOf({ lat, lng, accuracyM, tsMs }: LocationRow): LastLocation {
    return { lat, lng, accuracy_m: accuracyM, source: "gps", ts: this.#options.iso(tsMs) };
  }

  #locate(fix: Fix, receivedAtMs: number): void {
    if (!this.#options.isLocating) return;
    const { cells, accessPoints, network } = fix;
    const id = this.#options.newId(receivedAtMs);
    const job = locateJob({
      ...this.#jobOf(id),
      ts: new Date(plausibleTime(fix.deviceTimeMs, receivedAtMs)),
      deviceTs: fix.deviceTimeMs === null ? null : new Date(fix.deviceTimeMs),
      receivedAt: new Date(receivedAtMs),
      cells,
      accessPoints,
      network,
    });
    if (job) this.#want(id, job, receivedAtMs);
  }

  #wantAddress({ id: locationId, tsMs, lat, lng, receivedAtMs }: LocationRow): void {
    const id = this.#options.newId(receivedAtMs);
    const now = new Date(receivedAtMs);
    const place = { locationId: formatUuid(locationId), ts: new Date(tsMs), lat, lng, now };
    this.#want(id, addressJob({ ...this.#jobOf(id), ...place }), receivedAtMs);
  }

  #jobOf(id: Buffer): { id: string; deviceId: string; organizationId: string } {
    const { device } = this.hold;
    return { id: formatUuid(id), deviceId: device.id, organizationId: device.organizationId };
  }

  #want(id: Buffer, { kind, payload }: PlaceJob, createdAtMs: number): void {
    this.#rows.placeJobs.push({ hold: this.hold, id, kind, createdAtMs, payload });
  }
}

/** Columns of small numbers take what fits; what a device says beyond them is no number one can use. */
const smallOrNull = (value: number | null | undefined): number | null =>
  value == null || !Number.isFinite(value) || Math.abs(value) > 32_767 ? null : Math.round(value);

const newerOf = (known: LastLocation | null, fresh: LastLocation): LastLocation =>
  known !== null && known.ts > fresh.ts ? known : fresh;
