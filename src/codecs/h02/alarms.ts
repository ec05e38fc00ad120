import type { SessionMemory } from "../protocol-definition.ts";
import type { Alarm, AlarmType } from "../tracker-message.ts";

/** The status word is active low: a bit that is zero is an alarm. */
const alarmBits: readonly (readonly [bit: number, type: AlarmType])[] = [
  [0, "custom"],
  [1, "sos"],
  [2, "overspeed"],
  [18, "sos"],
  [19, "custom"],
];

const memoryKey = "alarms";

export function isStatus(field: string | undefined): field is string {
  return /^[\da-f]{8}$/i.test(field?.trim() ?? "");
}

/**
 * The alarms of a status. A call for help is raised with every report, the service joins those of a minute; other states are raised
 * when they begin, since they last as long as the car stands or the power is cut.
 */
export function readAlarms(status: string, deviceTimeMs: number | null, memory: SessionMemory): Alarm[] {
  const word = Number.parseInt(status, 16);
  const before = new Set(memory.get(memoryKey)?.split(",") ?? []);
  const low = alarmBits.filter(([bit]) => ((word >>> bit) & 1) === 0);
  memory.set(memoryKey, low.map(([bit]) => String(bit)).join());
  const alarms = low
    .filter(([bit, type]) => type === "sos" || !before.has(String(bit)))
    .map(([bit, type]): Alarm => ({ kind: "alarm", type, code: String(bit), deviceTimeMs }));
  return alarms.filter(
    ({ type }, index) => type === "custom" || alarms.findIndex((one) => one.type === type) === index,
  );
}
