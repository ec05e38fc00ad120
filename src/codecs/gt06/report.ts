import type { AccessPoint, Alarm, CellTower, Fix, GpsPosition, TrackerMessage, Vitals } from "../tracker-message.ts";
import type { RaisedAlarm } from "./alarms.ts";

/** What a frame says, collected while its blocks are read, and then turned into messages. */
export class Report {
  deviceTimeMs: number | null = null;
  /** Undefined: the frame speaks of no position. Null: it does, and there is no fix. */
  gps: GpsPosition | null | undefined;
  cells: CellTower[] = [];
  accessPoints: AccessPoint[] = [];
  isBuffered = false;
  readonly metrics: Vitals["metrics"] = {};
  readonly extra: Vitals["extra"] = {};
  alarm: RaisedAlarm | undefined;

  messages(): TrackerMessage[] {
    const { deviceTimeMs, metrics, extra, alarm } = this;
    const messages: TrackerMessage[] = [];
    const fix = this.#fix();
    if (fix) messages.push(fix);
    if (Object.keys(metrics).length > 0 || Object.keys(extra).length > 0) {
      messages.push({ kind: "vitals", deviceTimeMs, metrics, extra });
    }
    if (alarm) messages.push({ kind: "alarm", ...alarm, deviceTimeMs } satisfies Alarm);
    return messages.length > 0 ? messages : [{ kind: "heartbeat" }];
  }

  #fix(): Fix | undefined {
    const { deviceTimeMs, gps, cells, accessPoints, isBuffered } = this;
    if (gps === undefined && cells.length === 0 && accessPoints.length === 0) return undefined;
    const [cell] = cells;
    const network = cell ? { mcc: cell.mcc, mnc: cell.mnc } : null;
    return { kind: "fix", deviceTimeMs, gps: gps ?? null, cells, accessPoints, network, isBuffered };
  }
}
