import type { LocationGroup } from "./location.ts";
import { type Report, readPercent } from "./report.ts";

/** Reports that end with the percentage of the battery before the send time. */
const endsWithBattery: ReadonlySet<string> = new Set(
  "FRI RTL SOS NMR DOG LBC GEO PNL SPD DIS TMP TEM GIN GOT STR CTN".split(" "),
);
/** Models by the beginning of their version, for the few reports whose layout is theirs alone. */
const isGl500 = (version: string): boolean => ["11", "40", "44"].includes(version.slice(0, 2));
const isGl500m = (version: string): boolean => ["DE", "2E"].includes(version.slice(0, 2));
const isGl320m = (version: string): boolean => version.startsWith("C3");
const personalModels: ReadonlySet<string> = new Set("02 11 1A 21 28 2C 2E 30 40 42 44 52 55 66 C3 DE F5".split(" "));
export const isPersonal = (version: string): boolean => version.length === 6 && personalModels.has(version.slice(0, 2));

/** Six digits: state of ignition and motion, inputs, outputs. The battery stands before it. */
const statusPattern = /^(?:1[126A]|2[12]|4[12])[\dA-F]{4}$/i;

/** The field with the device status of vehicle trackers; undefined where there is none. */
export function statusField({ fields }: Report, last: LocationGroup | undefined): number | undefined {
  if (last === undefined) return undefined;
  const at = fields.findIndex((field, index) => index > last.end + 1 && statusPattern.test(field));
  return at === -1 ? undefined : at;
}

/** Percent, null where the report has none. */
export function readBattery(report: Report, last: LocationGroup | undefined): number | null {
  const { word, version, fields } = report;
  if (word === "LBS") return readPercent(fields[6]);
  if (word === "WIF") return readPercent(fields.at(-3));
  if (last === undefined) return isPersonal(version) ? batteryOfEmptyGroup(report) : null;
  if ((word === "STR" || word === "CTN") && isGl500(version)) return readPercent(fields[last.start - 1]);
  if (isGl500m(version)) return readPercent(fields[last.end + 4]);
  if (isGl320m(version) && word === "ERI") return readPercent(fields[last.end + 2]);
  const status = isPersonal(version) ? undefined : statusField(report, last);
  // A vehicle tracker that has no battery of its own, or an empty one, lives on that of the vehicle.
  if (status !== undefined) return readPercent(fields[status - 1]) || null;
  const tail = fields.length - 3;
  return endsWithBattery.has(word) && tail > last.end + 1 ? readPercent(fields[tail]) : null;
}

/** Neither a place nor a cell: the battery is what is left before the send time. */
function batteryOfEmptyGroup({ word, version, fields }: Report): number | null {
  if (!endsWithBattery.has(word)) return null;
  // The group is all empty and ends with field 17; signal, error rate and distance follow it.
  if (isGl500m(version)) return readPercent(fields[21]);
  const tail = fields.length - 3;
  return tail > 10 ? readPercent(fields[tail]) : null;
}
