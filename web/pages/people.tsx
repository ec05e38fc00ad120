import type { HeldDevice, ListedPerson } from "../api/types.ts";
import { batteryOf, isLow, oneOf } from "../parts/device-filter.ts";
import { Choice, Field } from "../parts/field.tsx";
import { Link } from "../parts/link.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { useDebounced } from "../state/debounced.ts";
import { stateOf } from "../state/device-state.ts";
import { useDevices } from "../state/fleet.ts";
import { openAlarms } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { usePaged } from "../state/paged.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStore } from "../state/store.ts";
import { assignmentTexts } from "../texts/assignments.ts";
import { common } from "../texts/common.ts";
import { showNumber } from "../texts/format.ts";
import { mapTexts } from "../texts/map.ts";
import { peopleTexts as texts } from "../texts/people.ts";
import "../styles/rules.css";

type DeviceShare = "all" | "with" | "without";
const shares = ["all", "with", "without"] as const;

function pathOf(search: string, share: DeviceShare): string {
  const query = new URLSearchParams({ page_size: "50", ordering: "last_name,first_name,email" });
  if (search !== "") query.set("search", search);
  if (share !== "all") query.set("has_devices", String(share === "with"));
  return `/console/api/people/?${query}`;
}

/** Everybody one may see, with their devices and how these are. */
export function PeoplePage() {
  const query = useQuery();
  const search = query.get("search") ?? "";
  const share = oneOf<DeviceShare>(shares, query.get("show"));
  const { list, more } = usePaged<ListedPerson>(pathOf(useDebounced(search.trim()), share));
  const rows = list.kind === "ready" ? list.value.results : [];
  return (
    <>
      <PageTitle>{common("people")}</PageTitle>
      <search class="filters">
        <Field label={common("search")} type="search" value={search} onInput={(text) => setQuery({ search: text })} />
        <Choice<DeviceShare>
          label={texts("show")}
          value={share}
          onChange={(value) => setQuery({ show: value === "all" ? undefined : value })}
          options={[
            ["all", texts("all")],
            ["with", texts("withDevices")],
            ["without", texts("withoutDevices")],
          ]}
        />
      </search>
      {list.kind === "loading" && <Loading />}
      {list.kind === "failed" && <Failure error={list.error} onRetry={list.reload} />}
      {list.kind === "ready" && (
        <p class="hint" role="status">
          {texts("count", { count: showNumber(list.value.count ?? rows.length, 0) })}
        </p>
      )}
      {list.kind === "ready" && rows.length === 0 && <Empty>{texts("none")}</Empty>}
      {rows.length > 0 && <PeopleTable people={rows} />}
      {more && (
        <button type="button" onClick={() => void more()}>
          {common("more")}
        </button>
      )}
    </>
  );
}

function PeopleTable({ people }: { people: readonly ListedPerson[] }) {
  const known = useDevices(people.flatMap(({ devices }) => devices.map(({ uid }) => uid)));
  const inAlarm = new Set(useStore(openAlarms).map(({ device_uid }) => device_uid));
  const nowMs = useNow();

  const showDevice = ({ uid, name, role }: HeldDevice) => {
    const device = known.get(uid);
    const percent = device && batteryOf(device);
    return (
      <li key={uid}>
        <span class={`dot ${device ? stateOf(device, inAlarm.has(uid), nowMs) : "offline"}`} aria-hidden="true" />{" "}
        <Link to={`/console/devices/${uid}`}>{name || uid}</Link>{" "}
        <small>
          {assignmentTexts(role)}
          {device &&
            ` · ${inAlarm.has(uid) ? mapTexts("stateAlarm") : common(device.is_online ? "online" : "offline")}`}
          {percent !== undefined && ` · ${isLow(percent) ? "▼ " : ""}${showNumber(percent, 0)} %`}
        </small>
      </li>
    );
  };
  return (
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">{common("name")}</th>
          <th scope="col">{texts("role")}</th>
          <th scope="col">{texts("devices")}</th>
        </tr>
      </thead>
      <tbody>
        {people.map(({ id, name, email, role, portal_active, devices, device_count }) => (
          <tr key={id}>
            <td>
              <Link to={`/console/people/${id}`}>{name || email}</Link>
              {name !== "" && (
                <>
                  <br />
                  <small>{email}</small>
                </>
              )}
            </td>
            <td data-label={texts("role")}>
              {role === null ? "–" : texts(role)} {portal_active === false && <small>{texts("noAccount")}</small>}
            </td>
            <td data-label={texts("devices")}>
              {device_count === 0 && <small>{texts("noDevices")}</small>}
              <ul class="plain-list">
                {devices.map(showDevice)}
                {device_count > devices.length && (
                  <li>
                    <small>{texts("moreDevices", { count: showNumber(device_count - devices.length, 0) })}</small>
                  </li>
                )}
              </ul>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
