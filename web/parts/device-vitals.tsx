import type { MetricKey } from "../../src/codecs/metric-keys.ts";
import type { Device } from "../api/types.ts";
import { useNow } from "../state/now.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { showNumber } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { type Bounds, beyond } from "./device-bounds.ts";
import { Age } from "./device-status.tsx";
import { Empty } from "./states.tsx";

const shown: readonly MetricKey[] = ["hr", "sbp", "dbp", "spo2", "temp", "glucose", "steps"];

/** The range that counts for a metric, in words; empty where there is none. */
export function rangeText(bounds: Bounds | undefined): string {
  const low = bounds?.low ?? null;
  const high = bounds?.high ?? null;
  if (low !== null && high !== null) return texts("rangeOf", { low: showNumber(low), high: showNumber(high) });
  if (low !== null) return texts("rangeFrom", { low: showNumber(low) });
  return high === null ? "" : texts("rangeTo", { high: showNumber(high) });
}

interface DeviceVitalsProps {
  status: Device["last_status"];
  bounds: ReadonlyMap<string, Bounds>;
}

/** The last value of everything that is measured of the person, when it was, and whether it is out of range. */
export function DeviceVitals({ status, bounds }: DeviceVitalsProps) {
  const nowMs = useNow();
  const known = shown.flatMap((metric) => {
    const entry = status[metric];
    return entry ? [{ metric, ...entry }] : [];
  });
  return (
    <section class="card" aria-labelledby="vitals">
      <h2 id="vitals">{texts("vitals")}</h2>
      {known.length === 0 ? (
        <Empty>{texts("noVitals")}</Empty>
      ) : (
        <ul class="vitals">
          {known.map(({ metric, value, ts }) => {
            const side = beyond(value, bounds.get(metric));
            return (
              <li key={metric} class={side ? "beyond" : ""}>
                <span class="name">{metricName(metric)}</span>
                <span class="value">
                  {showNumber(value)} <small>{metricUnit(metric)}</small>
                </span>
                {side && (
                  <strong class="mark bad">
                    <span aria-hidden="true">{side === "low" ? "▼ " : "▲ "}</span>
                    {texts(side === "low" ? "tooLow" : "tooHigh")}
                  </strong>
                )}
                <small>
                  {ts ? <Age iso={ts} nowMs={nowMs} /> : ""}
                  {rangeText(bounds.get(metric)) !== "" && <br />}
                  {rangeText(bounds.get(metric))}
                </small>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
