import type { Event } from "../api/types.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showTime } from "../texts/format.ts";
import type { Stop } from "./device-track.ts";
import { type TimeView, viewAfterKey } from "./time-view.ts";

interface TimeLineProps {
  window: TimeView;
  view: TimeView;
  cursorMs: number;
  stops: readonly Stop[];
  events: readonly Event[];
  onView(view: TimeView): void;
  onCursor(timeMs: number): void;
}

const laneHeight = 12;
const steps = 500;

/** Stops and events over the same time as the charts, and the slider that chooses a moment for all of them. */
export function TimeLine({ window, view, cursorMs, stops, events, onView, onCursor }: TimeLineProps) {
  const length = view.toMs - view.fromMs;
  const percent = (timeMs: number): number => ((timeMs - view.fromMs) / length) * 100;
  const isVisible = (timeMs: number): boolean => timeMs >= view.fromMs && timeMs <= view.toMs;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Arrows alone move the time, as on every slider.
    if (event.key.startsWith("Arrow") && !event.shiftKey) return;
    const next = viewAfterKey(event.key, view, window, cursorMs);
    if (!next) return;
    event.preventDefault();
    onView(next);
  };
  const zoomBy = (key: string): void => onView(viewAfterKey(key, view, window, cursorMs) ?? view);
  const shownTime = showTime(new Date(cursorMs).toISOString(), readerZone());
  const isZoomed = view.fromMs > window.fromMs || view.toMs < window.toMs;
  return (
    <div class="time-line">
      <div class="time-head">
        <output>{shownTime}</output>
        <span class="zoom">
          <button type="button" aria-label={texts("zoomIn")} onClick={() => zoomBy("+")}>
            +
          </button>
          <button type="button" aria-label={texts("zoomOut")} disabled={!isZoomed} onClick={() => zoomBy("-")}>
            −
          </button>
          <button type="button" disabled={!isZoomed} onClick={() => onView(window)}>
            {texts("zoomAll")}
          </button>
        </span>
      </div>
      <div class="lanes">
        <svg width="100%" height={laneHeight * 2} aria-hidden="true">
          <title>{texts("events")}</title>
          <rect class="lane" x="0" y={laneHeight / 2 - 1} width="100%" height="2" />
          <rect class="lane" x="0" y={laneHeight * 1.5 - 1} width="100%" height="2" />
          {stops
            .filter(({ fromMs, toMs }) => toMs >= view.fromMs && fromMs <= view.toMs)
            .map(({ fromMs, toMs }) => {
              const from = Math.max(0, percent(fromMs));
              const width = Math.max(0.4, Math.min(100, percent(toMs)) - from);
              return <rect key={fromMs} class="stop" x={`${from}%`} y="2" width={`${width}%`} height="8" rx="2" />;
            })}
          {events
            .filter(({ ts }) => isVisible(Date.parse(ts)))
            .map(({ id, ts, severity }) => (
              <circle key={id} class={severity} cx={`${percent(Date.parse(ts))}%`} cy={laneHeight * 1.5} r="4.5" />
            ))}
          {isVisible(cursorMs) && (
            <line class="cursor" x1={`${percent(cursorMs)}%`} x2={`${percent(cursorMs)}%`} y1="0" y2={laneHeight * 2} />
          )}
        </svg>
        <input
          type="range"
          aria-label={texts("time")}
          aria-valuetext={shownTime}
          aria-describedby="chart-hint"
          min={view.fromMs}
          max={view.toMs}
          step={Math.max(1000, Math.round(length / steps))}
          value={cursorMs}
          onInput={(event) => onCursor(Number(event.currentTarget.value))}
          onKeyDown={onKeyDown}
        />
      </div>
      <p class="hint" id="chart-hint">
        {texts("timeHint")} {texts("chartHint")}
      </p>
    </div>
  );
}
