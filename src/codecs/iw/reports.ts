import type { TrackerMessage } from "../tracker-message.ts";
import { readAlarm, readFall, readLowBattery, readWearing } from "./alarms.ts";
import { readEcg } from "./ecg.ts";
import { heartbeat, type IwFrame, type IwSession } from "./fields.ts";
import {
  readHealthPackage,
  readHeartAndPressure,
  readHeartRate,
  readOxygen,
  readSleep,
  readTemperatureAndBattery,
  readTemperatures,
  readTimedReading,
} from "./health.ts";
import { readBeacons, readVersion } from "./identity.ts";
import { readPosition, readSurroundings } from "./position.ts";
import { readHeartbeat } from "./status.ts";

export interface Report {
  read(frame: IwFrame, session: IwSession): TrackerMessage[];
  /** Fields of the answer; none by default. */
  answer?: (frame: IwFrame) => string[];
  /** The watch wants no answer. */
  isSilent?: true;
  /** Names of networks are in it, which may look like the start of a frame. */
  hasNames?: true;
}

/** What devices report, by code. The answer is the code with its first letter moved on by one. */
export const reports: ReadonlyMap<string, Report> = new Map<string, Report>([
  ["AP01", { read: readPosition, hasNames: true }],
  ["AP91", { read: readPosition, hasNames: true }],
  ["YP03", { read: readPosition, hasNames: true }],
  ["YP14", { read: readPosition, hasNames: true }],
  ["AP02", { read: readSurroundings, hasNames: true }],
  ["AP92", { read: readSurroundings, hasNames: true }],
  ["AP03", { read: readHeartbeat }],
  ["CP01", { read: readHeartbeat }],
  ["AP10", { read: readAlarm, hasNames: true }],
  ["AP04", { read: readLowBattery }],
  ["APFD", { read: readFall }],
  ["APWR", { read: readWearing, isSilent: true }],
  ["AP49", { read: readHeartRate }],
  ["APHT", { read: readHeartAndPressure }],
  ["APHP", { read: readHealthPackage }],
  ["AP50", { read: readTemperatureAndBattery }],
  ["AP97", { read: readSleep }],
  ["APJK", { read: readTimedReading, answer: ({ fields }) => [fields[1] ?? ""] }],
  ["APTP", { read: readTemperatures }],
  ["APSP", { read: readOxygen }],
  ["APHD", { read: readEcg }],
  ["APVR", { read: readVersion, isSilent: true }],
  ["APBL", { read: readBeacons, hasNames: true }],
  ["APTQ", { read: heartbeat, isSilent: true }],
  ["APT6", { read: heartbeat, answer: () => ["1", "1"] }],
  ["AP05", { read: heartbeat, answer: () => ["1"] }],
]);

/** A report of a kind that is not decoded (weather, cell lookup, logs): a watch that gets no answer hangs or repeats it. */
export const otherReport: Report = { read: heartbeat };

function replyOf(prefix: string, code: string, fields: readonly string[]): readonly Buffer[] {
  const word = prefix + String.fromCharCode(code.charCodeAt(0) + 1) + code.slice(1);
  return [Buffer.from(`${[word, ...fields].join(",")}#`, "latin1")];
}

/** Answers that say nothing of their frame are made once: one for each packet that waits would be the collector's work. */
function plainReplies(prefix: string): ReadonlyMap<string, readonly Buffer[]> {
  const plain = [...reports].filter(([, { answer, isSilent }]) => !answer && !isSilent);
  return new Map(plain.map(([code]) => [code, replyOf(prefix, code, [])]));
}
const plainRepliesOf: ReadonlyMap<string, ReadonlyMap<string, readonly Buffer[]>> = new Map([
  ["IW", plainReplies("IW")],
  ["TRV", plainReplies("TRV")],
]);
const noReplies: readonly Buffer[] = [];

export function replyTo(frame: IwFrame, report: Report): readonly Buffer[] {
  const { prefix, code } = frame;
  if (report.isSilent) return noReplies;
  return plainRepliesOf.get(prefix)?.get(code) ?? replyOf(prefix, code, report.answer?.(frame) ?? []);
}
