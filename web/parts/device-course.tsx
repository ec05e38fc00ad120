import { useMemo, useState } from "preact/hooks";
import type { Device, Event } from "../api/types.ts";
import { useDark } from "../state/dark.ts";
import { useKept } from "../state/kept.ts";
import { useLoaded } from "../state/loaded.ts";
import { useNow } from "../state/now.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStreamEvent } from "../state/stream-events.ts";
import { common } from "../texts/common.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showNumber } from "../texts/format.ts";
import type { Bounds } from "./device-bounds.ts";
import { DeviceEvents } from "./device-events.tsx";
import { loadEvents, loadReadings, loadTrack } from "./device-history.ts";
import { charts, withLive } from "./device-series.ts";
import { DeviceStops, showDuration } from "./device-stops.tsx";
import { placeAt, type TrackPoint } from "./device-track.ts";
import { lazy } from "./lazy.tsx";
import { PartFailed, TimeControls } from "./time-controls.tsx";
import { TimeLine } from "./time-line.tsx";
import { dayOf, type Range, ranges, type TimeView, windowOf, within } from "./time-view.ts";

const DeviceMap = lazy(async () => (await import("./device-map.tsx")).DeviceMap);
const DeviceChart = lazy(async () => (await import("./device-chart.tsx")).DeviceChart);

/** The last hours move on in steps, not with every second. */
const windowStepMs = 5 * 60_000;

const isRange = (text: string | null): text is Range => ranges.some((range) => range === text);

/** The points of the track and, in a window that reaches to now, where the device is now. */
function withLast(points: readonly TrackPoint[], last: Device["last_location"], window: TimeView) {
  const tsMs = last ? Date.parse(last.ts) : 0;
  const isNew = last && tsMs > (points.at(-1)?.tsMs ?? 0) && tsMs >= window.fromMs && tsMs <= window.toMs;
  return isNew ? [...points, { tsMs, lat: last.lat, lng: last.lng }] : points;
}

interface DeviceCourseProps {
  device: Device;
  bounds: ReadonlyMap<string, Bounds>;
}

/** Track, charts and events over one stretch of time, with one moment chosen for all of them. */
export function DeviceCourse({ device, bounds }: DeviceCourseProps) {
  const { uid, last_location: last, last_status: status } = device;
  const zone = readerZone();
  const clockMs = useNow();
  const nowMs = Math.ceil(clockMs / windowStepMs) * windowStepMs;
  const today = dayOf(nowMs, zone);
  const query = useQuery();
  const asked = query.get("range");
  const range = isRange(asked) ? asked : "day";
  const day = query.get("date") ?? today;
  const window = windowOf(range, day, zone, nowMs);
  const key = `${uid}/${range}/${window.fromMs}/${window.toMs}`;
  const isCurrent = window.toMs >= nowMs;

  const [zoomed, setZoomed] = useState<TimeView | undefined>();
  const [chosenMs, setChosen] = useState<number | undefined>();
  const view = zoomed ? within(zoomed, window) : window;
  const isDark = useDark();
  const cursorMs = Math.min(Math.max(chosenMs ?? clockMs, view.fromMs), view.toMs);

  const readings = useLoaded(`readings/${key}`, () => loadReadings(uid, window));
  const track = useLoaded(`track/${key}`, () => loadTrack(uid, window));
  const events = useLoaded(`events/${key}`, () => loadEvents(uid, window));
  const [news, setNews] = useState<readonly Event[]>([]);
  useStreamEvent<Event>("event", (event) => event.device_uid === uid && setNews((known) => [event, ...known]));
  const keptReadings = useKept(readings);
  const keptTrack = useKept(track);
  const keptEvents = useKept(events);

  const shownReadings = useMemo(
    () => (isCurrent ? withLive(keptReadings?.readings ?? [], status) : (keptReadings?.readings ?? [])),
    [keptReadings, isCurrent, status],
  );
  const points = useMemo(
    () => withLast(keptTrack?.points ?? [], isCurrent ? last : null, window),
    [keptTrack, isCurrent, last?.ts],
  );
  const shownEvents = useMemo(() => {
    const known = new Set(keptEvents?.map(({ id }) => id));
    const isNew = ({ id, ts }: Event): boolean =>
      !known.has(id) && Date.parse(ts) >= window.fromMs && Date.parse(ts) < window.toMs;
    return [...news.filter(isNew), ...(keptEvents ?? [])];
  }, [keptEvents, news, key]);
  const place = placeAt(points, cursorMs);
  const shownCharts = charts.filter(({ metrics }) =>
    metrics.some((metric) => status[metric] || shownReadings.some(({ data }) => typeof data[metric] === "number")),
  );

  const choose = (nextRange: Range, nextDay: string): void => {
    setZoomed(undefined);
    setChosen(undefined);
    setQuery({ range: nextRange === "day" ? undefined : nextRange, date: nextDay === today ? undefined : nextDay });
  };
  const showMoment = (timeMs: number): void => {
    setChosen(timeMs);
    if (timeMs < view.fromMs || timeMs > view.toMs) setZoomed(undefined);
  };
  const isLoading = [readings, track, events].some(({ kind }) => kind === "loading");
  const failed = [readings, track, events].find((one) => one.kind === "failed");
  return (
    <section class="card course" aria-labelledby="course" aria-busy={isLoading}>
      <h2 id="course">{texts("course")}</h2>
      <TimeControls range={range} day={day} today={today} onChange={choose} />
      {failed?.kind === "failed" && <PartFailed onRetry={failed.reload} />}
      <section class="map" aria-label={common("map")}>
        <DeviceMap
          key={String(isDark)}
          last={last}
          points={points}
          stops={keptTrack?.stops ?? []}
          place={place}
          fitKey={key}
        />
      </section>
      <TimeLine
        window={window}
        view={view}
        cursorMs={cursorMs}
        stops={keptTrack?.stops ?? []}
        events={shownEvents}
        onView={(next) => setZoomed(within(next, window))}
        onCursor={setChosen}
      />
      <p class="hint place">
        {place === undefined
          ? texts("noPlaceThen")
          : place.isOld
            ? texts("lastKnownThen", { age: showDuration(cursorMs - place.tsMs) })
            : `${showNumber(place.lat, 5)}, ${showNumber(place.lng, 5)}`}
      </p>
      {isLoading && keptReadings === undefined && <p class="hint">{common("loading")}</p>}
      {keptReadings?.isCut && (
        <p class="notice">{texts("tooMany", { count: showNumber(keptReadings.readings.length, 0) })}</p>
      )}
      {shownCharts.map((chart) => (
        <DeviceChart
          key={chart.id}
          chart={chart}
          readings={shownReadings}
          bounds={bounds}
          window={window}
          view={view}
          cursorMs={cursorMs}
          onView={(next) => setZoomed(within(next, window))}
          onCursor={setChosen}
        />
      ))}
      {shownCharts.length === 0 && !isLoading && <p class="hint">{texts("noReadings")}</p>}
      <div class="moment-lists">
        <DeviceStops track={keptTrack} onMoment={showMoment} />
        <DeviceEvents events={shownEvents} isWithinDay={range === "day" || range === "hours"} onMoment={showMoment} />
      </div>
    </section>
  );
}
