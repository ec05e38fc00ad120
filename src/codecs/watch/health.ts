import type { Vitals } from "../tracker-message.ts";
import { readVital } from "../wire/numbers.ts";
import { numberExtra } from "./position.ts";

/** Readings of the health words. They carry no time. Undefined: the frame has no reading, so it only echoes a request. */
export function readHealth(word: string, fields: readonly string[]): Vitals | undefined {
  const read = readers[word];
  return read === undefined || fields.length === 0 ? undefined : read(fields);
}

type Reader = (fields: readonly string[]) => Vitals | undefined;

const heartRate: Reader = ([hr]) => vitals({ hr: readVital(hr) });

/** The kind of measurement comes first, the value second. */
const typed =
  (key: "temp" | "spo2"): Reader =>
  ([type, value]) =>
    value === undefined || value.trim() === ""
      ? undefined
      : vitals({ [key]: readVital(value) }, numberExtra("measure_type", type));

/** By word in upper case. */
const readers: Readonly<Record<string, Reader>> = {
  PULSE: heartRate,
  HEART: heartRate,
  BLOOD: ([sbp, dbp]) => vitals({ sbp: readVital(sbp), dbp: readVital(dbp) }),
  BPHRT: ([sbp, dbp, hr, height, gender, age, weight]) =>
    vitals(
      { sbp: readVital(sbp), dbp: readVital(dbp), hr: readVital(hr) },
      {
        ...numberExtra("height", height),
        ...numberExtra("gender", gender),
        ...numberExtra("age", age),
        ...numberExtra("weight", weight),
      },
    ),
  TEMP: ([temp]) => vitals({ temp: readVital(temp) }),
  BTEMP2: typed("temp"),
  BODYTEMP2: typed("temp"),
  OXYGEN: typed("spo2"),
};

function vitals(metrics: Vitals["metrics"], extra: Vitals["extra"] = {}): Vitals {
  return { kind: "vitals", deviceTimeMs: null, metrics, extra };
}
