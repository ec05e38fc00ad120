import type { ComponentChildren } from "preact";
import type { Device } from "../api/types.ts";
import { type DeviceState, stateOf } from "../state/device-state.ts";
import { openAlarms } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { readerZone, showAge, showNumber, showTime } from "../texts/format.ts";
import { mapTexts } from "../texts/map.ts";
import { Link } from "./link.tsx";

const wordOf = (state: DeviceState): string =>
  state === "alarm" ? mapTexts("stateAlarm") : state === "stale" ? mapTexts("stateStale") : common(state);

const sourceOf = (source: string): string =>
  source === "gps" || source === "wifi" || source === "lbs" ? texts(`source_${source}`) : texts("source_other");

/** A time with its age, the exact one on demand. */
export function Age({ iso, nowMs }: { iso: string; nowMs: number }) {
  return (
    <time dateTime={iso} title={showTime(iso, readerZone())}>
      {showAge(iso, nowMs)}
    </time>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const lowBatteryPercent = 20;

/** What one asks first: is it on, where is she, since when do we know, is the battery full. */
export function DeviceStatus({ device }: { device: Device }) {
  const nowMs = useNow();
  const hasAlarm = useStore(openAlarms).some(({ device_uid }) => device_uid === device.uid);
  const state = stateOf(device, hasAlarm, nowMs);
  const { last_location: place, last_status: status } = device;
  return (
    <section class="card" aria-label={common("status")}>
      <dl class="facts">
        <Fact name={common("status")}>
          <span class={`dot ${state}`} aria-hidden="true" /> {wordOf(state)}
          {state === "alarm" && ` · ${common(device.is_online ? "online" : "offline")}`}
          {device.status_changed_at && (
            <small> {texts("since", { time: showTime(device.status_changed_at, readerZone()) })}</small>
          )}
        </Fact>
        <Fact name={common("lastSeen")}>
          {device.last_seen_at ? <Age iso={device.last_seen_at} nowMs={nowMs} /> : common("never")}
        </Fact>
        <Fact name={texts("position")}>
          {place ? (
            <>
              <Age iso={place.ts} nowMs={nowMs} />
              <small>
                {" "}
                <Link to={`/console/?device=${device.uid}`}>
                  {showNumber(place.lat, 5)}, {showNumber(place.lng, 5)}
                </Link>
                {" · "}
                {sourceOf(place.source)}
                {place.accuracy_m !== null && `, ${texts("accuracy", { metres: showNumber(place.accuracy_m, 0) })}`}
              </small>
              {state === "stale" && <strong class="mark warn">{texts("oldPosition")}</strong>}
            </>
          ) : (
            texts("noPosition")
          )}
        </Fact>
        <Fact name={common("battery")}>
          {status.bat ? (
            <>
              {showNumber(status.bat.value, 0)} %
              {status.bat.value <= lowBatteryPercent && <strong class="mark warn">{texts("tooLow")}</strong>}
              {status.bat.ts && (
                <small>
                  {" "}
                  <Age iso={status.bat.ts} nowMs={nowMs} />
                </small>
              )}
            </>
          ) : (
            common("unknown")
          )}
        </Fact>
      </dl>
    </section>
  );
}
