import { useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Device, FleetDevice } from "../api/types.ts";
import { nameOf } from "../parts/alarm-card.tsx";
import {
  batteryFilters,
  batteryOf,
  filterDevices,
  isLow,
  oneOf,
  orders,
  seenFilters,
  sortDevices,
  stateFilters,
} from "../parts/device-filter.ts";
import { DeviceForm } from "../parts/device-form.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { Link } from "../parts/link.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { type DeviceState, stateOf } from "../state/device-state.ts";
import { devices, isLoaded, openAlarms } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceListTexts as texts } from "../texts/devices.ts";
import { showAge, showNumber, showTime } from "../texts/format.ts";
import "../styles/rules.css";

const rowsAtOnce = 100;

const stateWord = (state: DeviceState): string => {
  if (state === "alarm") return texts("stateAlarm");
  return state === "stale" ? texts("stateStale") : common(state);
};

/** All devices one may see; administrators register, change and delete them here. */
export function DevicesPage() {
  const known = useStore(devices);
  const alarms = useStore(openAlarms);
  const isReady = useStore(isLoaded);
  const nowMs = useNow();
  const query = useQuery();
  const [rowCount, setRowCount] = useState(rowsAtOnce);
  const [edited, setEdited] = useState<Device | "new" | undefined>();
  const [notice, setNotice] = useState("");
  const top = useRef<HTMLDivElement>(null);
  const state = oneOf(stateFilters, query.get("state"));
  const battery = oneOf(batteryFilters, query.get("battery"));
  const seen = oneOf(seenFilters, query.get("seen"));
  const order = oneOf(orders, query.get("sort"));
  const search = query.get("search") ?? "";
  const found = useMemo(() => {
    const inAlarm = new Set(alarms.map(({ device_uid }) => device_uid));
    const stated = [...known.values()].map((device) => ({
      device,
      state: stateOf(device, inAlarm.has(device.uid), nowMs),
    }));
    return sortDevices(filterDevices(stated, { search, state, battery, seen }, nowMs), order);
  }, [known, alarms, nowMs, search, state, battery, seen, order]);

  const opening = useSubmit();
  const edit = (device: Device | "new"): void => {
    setNotice("");
    setEdited(device);
    top.current?.scrollIntoView({ block: "start" });
  };
  const open = ({ uid }: FleetDevice): void =>
    void opening.run(async () => edit(await get<Device>(`/api/v1/devices/${uid}/`)));
  const saved = (device: Device): void => {
    devices.update((before) => {
      const people = before.get(device.uid)?.people ?? [];
      return new Map(before).set(device.uid, { ...device, people });
    });
    setNotice(edited === "new" ? texts("registered", { name: nameOf(device, device.uid) }) : common("saved"));
    setEdited(undefined);
  };
  const deleted = ({ uid }: Device): void => {
    devices.update((before) => new Map([...before].filter(([key]) => key !== uid)));
    setEdited(undefined);
  };
  return (
    <div ref={top}>
      <div class="head">
        <PageTitle>{common("devices")}</PageTitle>
        {hasRole("ADMIN") && edited === undefined && (
          <button type="button" onClick={() => edit("new")}>
            {texts("register")}
          </button>
        )}
      </div>
      <p class="saved" role="status">
        {notice}
      </p>
      {opening.failure !== undefined && <Failure error={opening.failure} />}
      {edited !== undefined && (
        <DeviceForm
          key={edited === "new" ? "new" : edited.uid}
          device={edited === "new" ? undefined : edited}
          onSaved={saved}
          onDeleted={deleted}
          onCancel={() => setEdited(undefined)}
        />
      )}
      <search class="filters">
        <Field label={common("search")} type="search" value={search} onInput={(text) => setQuery({ search: text })} />
        <Choice
          label={texts("state")}
          value={state}
          onChange={(value) => setQuery({ state: value })}
          options={stateFilters.map((one) => [one, one === "" ? texts("any") : stateWord(one)] as const)}
        />
        <Choice
          label={texts("batteryFilter")}
          value={battery}
          onChange={(value) => setQuery({ battery: value })}
          options={[
            ["", texts("any")],
            ["low", texts("low")],
            ["half", texts("half")],
            ["unknown", common("unknown")],
          ]}
        />
        <Choice
          label={texts("lastSeenFilter")}
          value={seen}
          onChange={(value) => setQuery({ seen: value })}
          options={[
            ["", texts("any")],
            ["hour", texts("hour")],
            ["day", texts("day")],
            ["older", texts("older")],
            ["never", common("never")],
          ]}
        />
        <Choice
          label={texts("sort")}
          value={order}
          onChange={(value) => setQuery({ sort: value === "name" ? undefined : value })}
          options={[
            ["name", common("name")],
            ["state", texts("state")],
            ["battery", common("battery")],
            ["seen", common("lastSeen")],
          ]}
        />
      </search>
      {!isReady && known.size === 0 && <Loading />}
      {isReady && known.size === 0 && <Empty>{texts("noDevices")}</Empty>}
      {known.size > 0 && (
        <p class="hint" role="status">
          {texts("count", { count: showNumber(found.length, 0), total: showNumber(known.size, 0) })}
        </p>
      )}
      {known.size > 0 && found.length === 0 && <Empty>{texts("none")}</Empty>}
      {found.length > 0 && (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">{common("name")}</th>
              <th scope="col">{texts("state")}</th>
              <th scope="col">{common("battery")}</th>
              <th scope="col">{common("lastSeen")}</th>
              <th scope="col">{texts("model")}</th>
              {hasRole("ADMIN") && <td />}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, rowCount).map((row) => (
              <DeviceRow key={row.device.uid} {...row} nowMs={nowMs} onEdit={open} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > rowCount && (
        <button type="button" onClick={() => setRowCount(rowCount + rowsAtOnce)}>
          {common("more")}
        </button>
      )}
    </div>
  );
}

interface DeviceRowProps {
  device: FleetDevice;
  state: DeviceState;
  nowMs: number;
  onEdit(device: FleetDevice): void;
}

function DeviceRow({ device, state, nowMs, onEdit }: DeviceRowProps) {
  const percent = batteryOf(device);
  const name = nameOf(device, device.uid);
  return (
    <tr>
      <td>
        <Link to={`/console/devices/${device.uid}`}>{name}</Link>
        <br />
        <small>{[...device.people, device.uid, ...device.tags].join(" · ")}</small>
      </td>
      <td data-label={texts("state")}>
        <span class={`dot ${state}`} aria-hidden="true" /> {stateWord(state)}
      </td>
      <td data-label={common("battery")} class={isLow(percent) ? "battery-low" : ""}>
        {percent === undefined ? common("unknown") : `${isLow(percent) ? "▼ " : ""}${showNumber(percent, 0)} %`}
      </td>
      <td data-label={common("lastSeen")}>
        {device.last_seen_at === null ? (
          common("never")
        ) : (
          <time dateTime={device.last_seen_at} title={showTime(device.last_seen_at)}>
            {showAge(device.last_seen_at, nowMs)}
          </time>
        )}
      </td>
      <td data-label={texts("model")}>{device.device_model_name}</td>
      {hasRole("ADMIN") && (
        <td class="row-action">
          <button type="button" class="plain" aria-label={texts("editDevice", { name })} onClick={() => onEdit(device)}>
            {common("edit")}
          </button>
        </td>
      )}
    </tr>
  );
}
