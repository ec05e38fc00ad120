import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session } from "../protocol-definition.ts";
import type { CommandAnswer, DeviceInfo, Fix, TrackerMessage, Vitals } from "../tracker-message.ts";
import { readAlarm } from "./alarms.ts";
import { answersTo } from "./answers.ts";
import { readBinary } from "./binary.ts";
import { readExtras } from "./extras.ts";
import { readInfo } from "./info.ts";
import { type LocationGroup, readLocations } from "./location.ts";
import { readNeighbours } from "./neighbours.ts";
import { readBattery } from "./power.ts";
import { type Report, readReport } from "./report.ts";
import type { Gl200Traits } from "./traits.ts";

/** Every report names its device: the first one is the login, and is then read for what it says. */
export function readFrame(raw: Buffer, session: Session<Gl200Traits>): FrameContent {
  const isText = raw[4] === 0x3a || raw[5] === 0x3a;
  const { id, messages, replies } = isText ? readText(raw, session) : { ...readBinary(raw), replies: [] };
  if (session.device === undefined) return { messages: [{ kind: "login", id }], replies: [], isReadAgain: true };
  if (id !== session.device.id.toUpperCase()) throw new MalformedFrame("another id on this connection");
  return { messages: messages.length === 0 ? [{ kind: "heartbeat" }] : messages, replies };
}

function readText(raw: Buffer, session: Session<Gl200Traits>) {
  const report = readReport(raw);
  const messages = report.kind === "ACK" ? readAnswer(report) : readContent(report);
  return { id: report.id, messages, replies: answersTo(report, session.device?.traits.sack === true) };
}

/** `+ACK:GTRTO,<version>,<id>,<name>[,<sub command>],<serial>,<time>,<count>`. */
function readAnswer({ word, fields, count }: Report): TrackerMessage[] {
  const serial = fields.at(-3) ?? "";
  if (word === "HBD" || count === "" || fields.length < 7 || !/^[\da-f]{4}$/i.test(serial)) return [];
  const answer: CommandAnswer = {
    kind: "command_answer",
    word: `GT${word}`,
    serial: serial.toUpperCase(),
    isAccepted: null,
    fields: fields.slice(4, -3),
  };
  return [answer];
}

function readContent(report: Report): TrackerMessage[] {
  if (report.version === "") return [];
  const groups = readLocations(report);
  const last = groups.at(-1);
  const fixes = groups.length > 0 ? groups.map(({ fix }) => fix) : readNeighbours(report);
  const deviceTimeMs = timeOf(report, last);
  const alarm = readAlarm(report, deviceTimeMs);
  const status = readStatus(report);
  const battery = readBattery(report, last);
  const metrics = { ...(battery === null ? {} : { bat: battery }), ...status?.metrics };
  const extra = { ...readExtras(report, last), ...status?.extra };
  const vitals: Vitals = { kind: "vitals", deviceTimeMs, metrics, extra };
  const hasReadings = Object.keys(metrics).length + Object.keys(extra).length > 0;
  return [
    ...fixes.filter(saysWhere),
    ...(hasReadings ? [vitals] : []),
    ...(status?.info ? [status.info] : []),
    ...(alarm ? [alarm] : []),
  ];
}

const saysWhere = ({ gps, cells, accessPoints, network }: Fix): boolean =>
  gps !== null || cells.length > 0 || accessPoints.length > 0 || network !== null;

/** The time of the fix where there is one, else that of sending. */
function timeOf(report: Report, last: LocationGroup | undefined): number | null {
  return last?.fix.gps ? last.fix.deviceTimeMs : report.sentAtMs;
}

interface Status {
  metrics: Vitals["metrics"];
  extra: Vitals["extra"];
  info?: DeviceInfo | undefined;
}

function readStatus(report: Report): Status | undefined {
  if (report.word === "INF") return readInfo(report);
  const firmware = report.word === "VER" ? report.fields[5] : undefined;
  if (firmware === undefined || !/^[\w.-]{1,40}$/.test(firmware)) return undefined;
  return { metrics: {}, extra: {}, info: { kind: "info", firmware } };
}
