import { MalformedFrame } from "../malformed-frame.ts";
import type { TrackerMessage } from "../tracker-message.ts";
import { type IwFrame, type Metrics, numberOf, vitals } from "./fields.ts";

/** Signal in percent, satellites and battery: in position reports and in the heartbeat. */
export function statusMetrics(signal: number, satellites: number, battery: number): Metrics {
  return {
    gsm_signal: signal > 100 ? null : Math.round((signal * 31) / 100),
    satellites,
    bat: battery === 0 ? null : battery,
  };
}

/** AP03, and CP01 of TRV units, which has more digits in the block and no steps. */
export function readHeartbeat({ fields }: IwFrame): TrackerMessage[] {
  const status = /^(\d{3})(\d{3})(\d{3})\d{5}/.exec(fields[0] ?? "");
  if (!status) throw new MalformedFrame("bad status block");
  const steps = numberOf(fields[1]);
  const [signal, satellites, battery] = [Number(status[1]), Number(status[2]), Number(status[3])];
  const metrics: Metrics = { ...statusMetrics(signal, satellites, battery), ...(steps === undefined ? {} : { steps }) };
  // V3 firmware ends with its mode and interval; a single number there is something else.
  const [mode, interval] = fields.length === 5 ? [numberOf(fields[3]), numberOf(fields[4])] : [];
  const extra = mode === undefined || interval === undefined ? {} : { working_mode: mode, interval_seconds: interval };
  return [vitals(null, metrics, extra)];
}
