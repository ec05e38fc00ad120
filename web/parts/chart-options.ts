import uPlot from "uplot";
import { regionalLocale } from "../texts/locale.ts";
import type { Bounds } from "./device-bounds.ts";

/** The width of the values at the left of every chart; the time line above them begins at the same place. */
const axisWidth = 46;
export const chartHeight = 132;
const dayMs = 86_400_000;
/** A label in this last part of the width would be cut off by the edge. */
const edgeShare = 0.02;

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Times along the bottom: hours within a day, dates where a day begins. */
function timeLabels(timeZone: string) {
  const clock = new Intl.DateTimeFormat(regionalLocale(), { timeZone, hour: "2-digit", minute: "2-digit" });
  const date = new Intl.DateTimeFormat(regionalLocale(), { timeZone, day: "numeric", month: "short" });
  return (u: uPlot, splits: number[], _axis: number, _space: number, incrementMs: number): string[] => {
    const { min = 0, max = 0 } = u.scales.x ?? {};
    const lastShown = (max ?? 0) - ((max ?? 0) - (min ?? 0)) * edgeShare;
    return splits.map((time, index) => {
      const before = splits[index - 1];
      if (time > lastShown) return "";
      if (incrementMs >= dayMs) return date.format(time);
      const isNewDay = before !== undefined && date.format(before) !== date.format(time);
      return isNewDay ? date.format(time) : clock.format(time);
    });
  };
}

/** What lies beyond a bound is shaded, and the bound itself is a broken line: colour is not the only sign. */
function drawBands(u: uPlot, bounds: readonly (Bounds | undefined)[]): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const one of bounds) {
    for (const side of ["low", "high"] as const) {
      const bound = one?.[side] ?? null;
      if (bound === null) continue;
      const y = u.valToPos(bound, "y", true);
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = colour("--bad");
      if (side === "high") ctx.fillRect(bbox.left, bbox.top, bbox.width, Math.max(0, y - bbox.top));
      else ctx.fillRect(bbox.left, y, bbox.width, Math.max(0, bbox.top + bbox.height - y));
      ctx.globalAlpha = 1;
      ctx.strokeStyle = colour("--bad");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
  }
  ctx.restore();
}

function drawCursor(u: uPlot, timeMs: number): void {
  const { ctx, bbox } = u;
  const x = u.valToPos(timeMs, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colour("--focus");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** All values and the bounds, with a little room; a chart of one value alone needs a height too. */
function valueRange(min: number | null, max: number | null, bounds: readonly (Bounds | undefined)[]): [number, number] {
  const known = [min, max, ...bounds.flatMap((one) => [one?.low ?? null, one?.high ?? null])].filter(
    (value): value is number => value !== null && Number.isFinite(value),
  );
  if (known.length === 0) return [0, 100];
  const low = Math.min(...known);
  const high = Math.max(...known);
  const room = Math.max((high - low) * 0.08, 1);
  return [Math.max(0, low - room), high + room];
}

export interface ChartOptions {
  width: number;
  timeZone: string;
  seriesCount: number;
  bounds: readonly (Bounds | undefined)[];
  cursorMs(): number;
  /** Dragged over with the mouse. */
  onSelect(fromMs: number, toMs: number): void;
}

const strokes = ["--accent", "--focus"] as const;

export function chartOptions({
  width,
  timeZone,
  seriesCount,
  bounds,
  cursorMs,
  onSelect,
}: ChartOptions): uPlot.Options {
  const axis = {
    stroke: () => colour("--quiet"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1, size: 4 },
    font: "12px system-ui, sans-serif",
  };
  return {
    width,
    height: chartHeight,
    ms: 1,
    tzDate: (timeMs) => uPlot.tzDate(new Date(timeMs), timeZone),
    padding: [8, 12, 0, 0],
    legend: { show: false },
    cursor: { x: true, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: true, auto: false },
      y: { range: (_, min, max) => valueRange(min, max, bounds) },
    },
    axes: [
      { ...axis, size: 28, values: timeLabels(timeZone) },
      { ...axis, size: axisWidth },
    ],
    series: [
      {},
      ...Array.from({ length: seriesCount }, (_, index) => ({
        stroke: () => colour(strokes[index] ?? "--text"),
        width: 1.75,
        // The second line of a pair is also told by its dashes.
        ...(index > 0 ? { dash: [6, 3] } : {}),
        spanGaps: false,
      })),
    ],
    hooks: {
      drawClear: [(u) => drawBands(u, bounds)],
      draw: [(u) => drawCursor(u, cursorMs())],
      setSelect: [
        (u) => {
          const { left, width: selected } = u.select;
          if (selected < 6) return;
          onSelect(u.posToVal(left, "x"), u.posToVal(left + selected, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
