import type { TrackerMessage } from "../tracker-message.ts";
import { type IwFrame, MalformedFrame, type Metrics, numberOf, vitals } from "./iw-fields.ts";

/** The digits of offsets 45 to 58 of a position report, which are also the heartbeat: signal, satellites, battery, flags. */
export function readStatus(digits: string): Metrics {
  const match = /^(\d{3})(\d{3})(\d{3})\d{5}/.exec(digits);
  if (!match) throw new MalformedFrame("bad status block");
  const [signal = 0, satellites = 0, battery = 0] = match.slice(1).map(Number);
  return {
    gsm_signal: signal > 100 ? null : Math.round((signal * 31) / 100),
    satellites,
    bat: battery === 0 ? null : battery,
  };
}

/** AP03, and CP01 of TRV units, which has more digits in the block and no steps. */
export function readHeartbeat({ fields }: IwFrame): TrackerMessage[] {
  const steps = numberOf(fields[1]);
  const metrics: Metrics = { ...readStatus(fields[0] ?? ""), ...(steps === undefined ? {} : { steps }) };
  // V3 firmware ends with its mode and interval; a single number there is something else.
  const [mode, interval] = fields.length === 5 ? [numberOf(fields[3]), numberOf(fields[4])] : [];
  const extra = mode === undefined || interval === undefined ? {} : { working_mode: mode, interval_seconds: interval };
  return [vitals(null, metrics, extra)];
}
