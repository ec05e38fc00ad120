import type { Report } from "./report.ts";

/**
 * A heartbeat is always answered. Other reports are only when the device is set to wait for it (SACK), which is a trait of the
 * model; it then keeps a report until the answer comes.
 */
export function answersTo({ kind, word, version, count }: Report, isEveryReportAnswered: boolean): Buffer[] {
  if (count === "") return [];
  if (kind === "ACK" && word === "HBD") return [Buffer.from(`+SACK:GTHBD,${version},${count}$`, "latin1")];
  return isEveryReportAnswered ? [Buffer.from(`+SACK:${count}$`, "latin1")] : [];
}
