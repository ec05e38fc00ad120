import { useMemo, useState } from "preact/hooks";
import { AlarmCard, nameOf } from "../parts/alarm-card.tsx";
import { DoneAlarms } from "../parts/done-alarms.tsx";
import { makeStateFleet, matches } from "../parts/fleet-states.ts";
import { lazy } from "../parts/lazy.tsx";
import { Link } from "../parts/link.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useDark } from "../state/dark.ts";
import type { DeviceState } from "../state/device-state.ts";
import { isLoaded, useFleet } from "../state/fleet.ts";
import { openAlarms } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStore } from "../state/store.ts";
import { alarmTexts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";
import { showAge } from "../texts/format.ts";
import { mapTexts as texts } from "../texts/map.ts";

const FleetMap = lazy(async () => (await import("../parts/fleet-map.tsx")).FleetMap);

/** As many as somebody reads; a search finds the others. */
const maxListed = 200;

const stateWords = { alarm: "stateAlarm", stale: "stateStale" } as const;
const wordOf = (state: DeviceState): string =>
  state === "alarm" || state === "stale" ? texts(stateWords[state]) : common(state);

/** More would hide the devices; the page of alarms has them all. */
const maxAlarms = 20;

/** All devices one may see, on the map and in a list that needs no map, and the alarms beside them. */
export function MapPage() {
  const known = useFleet();
  const alarms = useStore(openAlarms);
  const isReady = useStore(isLoaded);
  const nowMs = useNow();
  const isDark = useDark();
  const query = useQuery();
  const followed = query.get("device");
  const [search, setSearch] = useState("");
  const inAlarm = useMemo(() => new Set(alarms.map(({ device_uid }) => device_uid)), [alarms]);
  const [stateFleet] = useState(makeStateFleet);
  const stated = useMemo(() => stateFleet(known, inAlarm, nowMs), [known, inAlarm, nowMs]);
  const wanted = search.trim().toLowerCase();
  const found = useMemo(
    () => (wanted === "" ? stated : stated.filter(({ device }) => matches(device, wanted))),
    [stated, wanted],
  );

  return (
    <div class="map-page">
      <PageTitle>{common("map")}</PageTitle>
      <section class="map" aria-label={common("map")}>
        <FleetMap
          key={String(isDark)}
          fleet={found}
          isComplete={isReady}
          followed={followed}
          onChoose={(uid) => setQuery({ device: uid })}
        />
      </section>
      <div class="beside">
        <DoneAlarms />
        {alarms.length > 0 && (
          <section aria-label={texts("alarmPanel")} class="alarms">
            {alarms.slice(0, maxAlarms).map((event) => (
              <AlarmCard key={event.id} event={event} device={known.get(event.device_uid)} />
            ))}
            {alarms.length > maxAlarms && (
              <p>
                <Link to="/console/alarms">{alarmTexts("allAlarms", { count: alarms.length })}</Link>
              </p>
            )}
          </section>
        )}
        <section aria-label={common("devices")}>
          <label class="field">
            <span>{texts("find")}</span>
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          <p class="hint">{texts("count", { count: found.length })}</p>
          {!isReady && known.size === 0 && <Loading />}
          {isReady && known.size === 0 && <Empty>{texts("noDevices")}</Empty>}
          <ul class="device-list">
            {found.slice(0, maxListed).map(({ device, state }) => (
              <li key={device.uid} class={device.uid === followed ? "chosen" : ""}>
                <span class={`dot ${state}`} aria-hidden="true" />
                <Link to={`/console/devices/${device.uid}`}>{nameOf(device, device.uid)}</Link>
                <small>
                  {device.people.length > 0 && `${device.people.join(", ")} · `}
                  {wordOf(state)}
                  {" · "}
                  {device.last_location ? showAge(device.last_location.ts, nowMs) : texts("noPosition")}
                </small>
                {device.last_location && (
                  <button
                    type="button"
                    class="plain"
                    aria-pressed={device.uid === followed}
                    aria-label={`${texts(device.uid === followed ? "unfollow" : "follow")}: ${nameOf(device, device.uid)}`}
                    onClick={() => setQuery({ device: device.uid === followed ? undefined : device.uid })}
                  >
                    {texts(device.uid === followed ? "unfollow" : "follow")}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      </div>
    </div>
  );
}
