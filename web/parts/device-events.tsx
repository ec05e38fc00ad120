import { useState } from "preact/hooks";
import type { MetricKey } from "../../src/codecs/metric-keys.ts";
import type { Event } from "../api/types.ts";
import { alarmTexts, eventKind } from "../texts/alarms.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showClock, showNumber, showTime } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";

interface DeviceEventsProps {
  events: readonly Event[];
  /** Within a day the time is enough. */
  isWithinDay: boolean;
  onMoment(timeMs: number): void;
}

const firstShown = 12;

/** What an event adds to its kind: the fence, or the value that was out of range. */
function detailOf({ fence_name, metric_key, value }: Event): string {
  if (fence_name !== null) return fence_name;
  if (metric_key === null || value === null) return "";
  const metric = metric_key as MetricKey;
  return `${metricName(metric)} ${showNumber(value)} ${metricUnit(metric)}`;
}

/** The events of the window, newest first; each leads to its moment on the map and in the charts. */
export function DeviceEvents({ events, isWithinDay, onMoment }: DeviceEventsProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? events : events.slice(0, firstShown);
  return (
    <section aria-labelledby="events">
      <h3 id="events">{texts("events")}</h3>
      {events.length === 0 && <p class="hint">{texts("noEvents")}</p>}
      <ul class="moments">
        {shown.map((event) => (
          <li key={event.id}>
            <span class={`dot ${event.severity}`} aria-hidden="true" />
            <span>
              <strong>{eventKind(event.event_type)}</strong> {detailOf(event)}
              <small>
                {" "}
                {alarmTexts(event.severity as "critical" | "warning" | "info")}
                {event.acknowledged && `, ${texts("acknowledged")}`}
              </small>
            </span>
            <button
              type="button"
              class="plain"
              title={texts("showMoment")}
              onClick={() => onMoment(Date.parse(event.ts))}
            >
              <time dateTime={event.ts}>{(isWithinDay ? showClock : showTime)(event.ts, readerZone())}</time>
            </button>
          </li>
        ))}
      </ul>
      {events.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {texts("allEvents", { count: events.length })}
        </button>
      )}
    </section>
  );
}
