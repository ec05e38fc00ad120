import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { MetricKey } from "../../src/codecs/metric-keys.ts";
import "uplot/dist/uPlot.min.css";
import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showClock, showNumber } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { chartHeight, chartOptions } from "./chart-options.ts";
import { followTouch } from "./chart-touch.ts";
import type { Bounds } from "./device-bounds.ts";
import { type Chart, type Reading, seriesOf, summaryOf, valueAt } from "./device-series.ts";
import { rangeText } from "./device-vitals.tsx";
import type { TimeView } from "./time-view.ts";

export interface DeviceChartProps {
  chart: Chart;
  readings: readonly Reading[];
  bounds: ReadonlyMap<string, Bounds>;
  window: TimeView;
  view: TimeView;
  cursorMs: number;
  onView(view: TimeView): void;
  onCursor(timeMs: number): void;
}

/** The course of one metric, or of a pair of them. The words beside it say the same to those who do not see it. */
export function DeviceChart(props: DeviceChartProps) {
  const { chart, readings, bounds, view, cursorMs } = props;
  const metrics: readonly MetricKey[] = chart.metrics;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  // Handlers outlive a drawing: they read what is current.
  const current = useRef(props);
  current.current = props;
  const series = useMemo(() => seriesOf(readings, metrics), [readings, chart]);
  const chartBounds = metrics.map((metric) => bounds.get(metric));
  const boundsKey = JSON.stringify(chartBounds);

  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const options = chartOptions({
      width: element.clientWidth,
      timeZone: readerZone(),
      seriesCount: metrics.length,
      bounds: chartBounds,
      cursorMs: () => current.current.cursorMs,
      onSelect: (fromMs, toMs) => current.current.onView({ fromMs, toMs }),
    });
    const u = new uPlot(options, [series.timesMs, ...series.values] as uPlot.AlignedData, element);
    plot.current = u;
    u.setScale("x", { min: current.current.view.fromMs, max: current.current.view.toMs });
    const resized = new ResizeObserver(() => u.setSize({ width: element.clientWidth, height: chartHeight }));
    resized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => u.redraw(false, true);
    scheme.addEventListener("change", redraw);
    const endTouch = followTouch(u.over, {
      view: () => current.current.view,
      bounds: () => current.current.window,
      onView: (next) => current.current.onView(next),
    });
    u.over.addEventListener("click", (event) => current.current.onCursor(u.posToVal(event.offsetX, "x")));
    u.over.addEventListener("dblclick", () => current.current.onView(current.current.window));
    return () => {
      endTouch();
      scheme.removeEventListener("change", redraw);
      resized.disconnect();
      u.destroy();
      plot.current = undefined;
    };
  }, [series, boundsKey]);
  useEffect(() => {
    plot.current?.setScale("x", { min: view.fromMs, max: view.toMs });
  }, [view.fromMs, view.toMs]);
  useEffect(() => plot.current?.redraw(false, false), [cursorMs]);

  const name = chart.id === "pressure" ? texts("pressure") : metricName(chart.id);
  const unit = metricUnit(metrics[0] as MetricKey);
  const values = metrics.map((_, index) => valueAt(series, index, cursorMs));
  const words = metrics.flatMap((metric, index) => {
    const summary = summaryOf(series, index, view.fromMs, view.toMs);
    if (!summary) return [];
    const { latest, low, high } = summary;
    const text = texts("summary", { latest: showNumber(latest), low: showNumber(low), high: showNumber(high) });
    return [
      [metrics.length > 1 ? `${metricName(metric)}: ` : "", text, rangeText(bounds.get(metric))]
        .filter(Boolean)
        .join(metrics.length > 1 ? " " : " · "),
    ];
  });
  return (
    <figure class="chart">
      <figcaption>
        <strong>{name}</strong>
        <span>
          {values.some((value) => value !== undefined) &&
            `${texts("atTime", { time: showClock(new Date(cursorMs).toISOString(), readerZone()) })}: ${values
              .map((value) => (value === undefined ? "–" : showNumber(value)))
              .join(" / ")} ${unit}`}
        </span>
        <small id={`chart-${chart.id}`}>{words.length > 0 ? words.join("; ") : texts("noReadings")}</small>
      </figcaption>
      <div
        ref={holder}
        class="plot"
        role="img"
        aria-label={texts("chartName", { metric: name })}
        aria-describedby={`chart-${chart.id}`}
      />
    </figure>
  );
}
