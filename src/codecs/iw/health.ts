import { MalformedFrame } from "../malformed-frame.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import {
  bloodPressure,
  cleanText,
  type IwFrame,
  type IwSession,
  type Metrics,
  numberOf,
  reading,
  vitals,
  wholeNumberOf,
} from "./fields.ts";
import { dialTimeOf } from "./time.ts";

/** What a watch that is not worn writes into APHP; the 95 is no measurement. */
const NOT_WORN = [0, 0, 0, 95, 0, 0];

/** AP49. */
export function readHeartRate({ fields }: IwFrame): TrackerMessage[] {
  return [vitals(null, reading("hr", fields[0]))];
}

/** APHT. */
export function readHeartAndPressure({ fields }: IwFrame): TrackerMessage[] {
  return [vitals(null, { ...reading("hr", fields[0]), ...bloodPressure(fields[1], fields[2]) })];
}

/** APHP: heart rate, both pressures, oxygen, glucose, temperature; every field may be empty. */
export function readHealthPackage({ fields }: IwFrame): TrackerMessage[] {
  const [hr, sbp, dbp, spo2, glucose, temp] = fields;
  const isWorn = NOT_WORN.some((value, index) => numberOf(fields[index]) !== value);
  return [
    vitals(null, {
      ...reading("hr", hr),
      ...bloodPressure(sbp, dbp),
      ...(isWorn ? reading("spo2", spo2) : { spo2: null }),
      ...reading("glucose", glucose),
      ...reading("temp", temp),
    }),
  ];
}

/** AP50. */
export function readTemperatureAndBattery({ fields }: IwFrame): TrackerMessage[] {
  return [vitals(null, { ...reading("temp", fields[0]), ...reading("bat", fields[1]) })];
}

/** APTP: body and wrist. */
export function readTemperatures({ fields }: IwFrame): TrackerMessage[] {
  const wrist = numberOf(fields[1]) ?? 0;
  return [vitals(null, reading("temp", fields[0]), wrist > 0 ? { wrist_temp: wrist } : {})];
}

/** APSP. */
export function readOxygen({ fields }: IwFrame): TrackerMessage[] {
  return [vitals(null, reading("spo2", fields[0]))];
}

/** AP97: a window with a digit per slot, or minutes of deep and light sleep. */
export function readSleep({ fields }: IwFrame): TrackerMessage[] {
  const window = /^(\d{2})(\d{2})@(\d{2})(\d{2})$/.exec(fields[0]?.trim() ?? "");
  if (!window) {
    const sleep = { deep_minutes: wholeNumberOf(fields[0]), light_minutes: wholeNumberOf(fields[1]) };
    return [vitals(null, {}, { sleep })];
  }
  const stages = fields[2]?.trim() ?? "";
  if (!/^\d*$/.test(stages)) throw new MalformedFrame("bad sleep stages");
  const sleep = {
    from: `${window[1]}:${window[2]}`,
    to: `${window[3]}:${window[4]}`,
    slots: wholeNumberOf(fields[1]),
    stages,
  };
  return [vitals(null, {}, { sleep })];
}

/** The types of APJK. Blood pressure has the diastolic value first. */
const TIMED_READINGS: Readonly<Record<string, (value: string) => Metrics>> = {
  "1": (value) => {
    const [dbp, sbp] = value.split("|");
    return bloodPressure(sbp, dbp);
  },
  "2": (value) => reading("hr", value),
  "3": (value) => reading("temp", value),
  "4": (value) => reading("spo2", value),
};

/** APJK: time, type, value. */
export function readTimedReading({ fields }: IwFrame, session: IwSession): TrackerMessage[] {
  const [time, type = "", value = ""] = fields;
  if (!/^\d{1,2}$/.test(type)) throw new MalformedFrame("bad type of reading");
  const deviceTimeMs = dialTimeOf(time, session);
  const read = TIMED_READINGS[type];
  if (read) return [vitals(deviceTimeMs, read(value))];
  if (type === "5") return [vitals(deviceTimeMs, {}, { sleep: { deep_minutes: wholeNumberOf(value) } })];
  if (type === "6" || type === "7") {
    return [vitals(deviceTimeMs, {}, { sleep: { type: Number(type), value: cleanText(value) } })];
  }
  return [{ kind: "heartbeat" }];
}
