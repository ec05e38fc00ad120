import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showClock, showNumber } from "../texts/format.ts";
import { locale } from "../texts/locale.ts";
import type { Track } from "./device-history.ts";
import type { Stop } from "./device-track.ts";

const clock = (timeMs: number): string => showClock(new Date(timeMs).toISOString(), readerZone());

/** Hours and minutes, as the reader writes them. */
export function showDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const part = (value: number, unit: "hour" | "minute"): string =>
    new Intl.NumberFormat(locale.get(), { style: "unit", unit, unitDisplay: "short" }).format(value);
  const hours = Math.floor(minutes / 60);
  return [hours > 0 ? part(hours, "hour") : "", minutes % 60 > 0 || hours === 0 ? part(minutes % 60, "minute") : ""]
    .filter(Boolean)
    .join(" ");
}

const placeOf = ({ address, lat, lng }: Stop): string => address ?? `${showNumber(lat, 5)}, ${showNumber(lng, 5)}`;

interface DeviceStopsProps {
  track: Track | null | undefined;
  onMoment(timeMs: number): void;
}

/** The stops of the track by their numbers on the map, and how far it went. */
export function DeviceStops({ track, onMoment }: DeviceStopsProps) {
  if (track === undefined) return null;
  return (
    <section aria-labelledby="stops">
      <h3 id="stops">{texts("stops")}</h3>
      {track === null ? (
        <p class="hint">{texts("longTrack")}</p>
      ) : (
        <p class="hint">
          {track.points.length === 0
            ? texts("noTrack")
            : texts("distance", { distance: showNumber(track.distanceM / 1000) })}
        </p>
      )}
      <ol class="moments stops">
        {track?.stops.map((stop, index) => (
          <li key={stop.fromMs}>
            <span class="number" aria-hidden="true">
              {index + 1}
            </span>
            <span>
              {placeOf(stop)} <small>{showDuration(stop.toMs - stop.fromMs)}</small>
            </span>
            <button type="button" class="plain" title={texts("showMoment")} onClick={() => onMoment(stop.fromMs)}>
              {clock(stop.fromMs)} – {stop.isOngoing ? texts("untilNow") : clock(stop.toMs)}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
