import { useMemo, useState } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { Assignment, User } from "../api/types.ts";
import { batteryOf, isLow, oneOf } from "../parts/device-filter.ts";
import { Choice, Field } from "../parts/field.tsx";
import { Link } from "../parts/link.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { type DeviceShare, findPeople, type Person, peopleOf } from "../parts/people-list.ts";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { stateOf } from "../state/device-state.ts";
import { devices, openAlarms } from "../state/live.ts";
import { useLoaded } from "../state/loaded.ts";
import { useNow } from "../state/now.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { showNumber } from "../texts/format.ts";
import { peopleTexts as texts } from "../texts/people.ts";
import "../styles/rules.css";

const rowsAtOnce = 100;
const shares = ["all", "with", "without"] as const;

async function loadPeople(): Promise<Person[]> {
  const [users, assignments] = await Promise.all([
    getAll<User>("/api/v1/auth/users/?page_size=200"),
    getAll<Assignment>("/api/v1/assignments/?page_size=200"),
  ]);
  return peopleOf(users, assignments);
}

/** Everybody one may see, with their devices and how these are. */
export function PeoplePage() {
  const people = useLoaded("people", loadPeople);
  const query = useQuery();
  const search = query.get("search") ?? "";
  const share = oneOf<DeviceShare>(shares, query.get("show"));
  const [rowCount, setRowCount] = useState(rowsAtOnce);
  const rows = people.kind === "ready" ? people.value : undefined;
  const found = useMemo(() => findPeople(rows ?? [], search, share), [rows, search, share]);
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
      {people.kind === "loading" && <Loading />}
      {people.kind === "failed" && <Failure error={people.error} onRetry={people.reload} />}
      {rows && (
        <p class="hint" role="status">
          {texts("count", { count: showNumber(found.length, 0) })}
        </p>
      )}
      {rows && found.length === 0 && <Empty>{texts("none")}</Empty>}
      {found.length > 0 && (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">{common("name")}</th>
              <th scope="col">{texts("role")}</th>
              <th scope="col">{texts("devices")}</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, rowCount).map((person) => (
              <PersonRow key={person.id} person={person} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > rowCount && (
        <button type="button" onClick={() => setRowCount(rowCount + rowsAtOnce)}>
          {common("more")}
        </button>
      )}
    </>
  );
}

function PersonRow({ person }: { person: Person }) {
  const { id, name, email, user, assignments } = person;
  return (
    <tr>
      <td>
        <Link to={`/console/people/${id}`}>{name}</Link>
        {name !== email && (
          <>
            <br />
            <small>{email}</small>
          </>
        )}
      </td>
      <td data-label={texts("role")}>
        {user ? texts(user.role) : "–"}
        {user && !user.portal_active && (
          <>
            {" "}
            <small>{texts("noAccount")}</small>
          </>
        )}
      </td>
      <td data-label={texts("devices")}>
        {assignments.length === 0 && <small>{texts("noDevices")}</small>}
        <ul class="plain-list">
          {assignments.map((assignment) => (
            <HeldDevice key={assignment.id} assignment={assignment} />
          ))}
        </ul>
      </td>
    </tr>
  );
}

function HeldDevice({ assignment: { device_uid, device, role } }: { assignment: Assignment }) {
  const nowMs = useNow();
  const known = useStore(devices).get(device_uid);
  const hasAlarm = useStore(openAlarms).some((alarm) => alarm.device_uid === device_uid);
  const percent = known && batteryOf(known);
  return (
    <li>
      <span class={`dot ${known ? stateOf(known, hasAlarm, nowMs) : "offline"}`} aria-hidden="true" />{" "}
      <Link to={`/console/devices/${device_uid}`}>{device.name || device_uid}</Link>{" "}
      <small>
        {texts(role)}
        {known && ` · ${common(known.is_online ? "online" : "offline")}`}
        {percent !== undefined && ` · ${isLow(percent) ? "▼ " : ""}${showNumber(percent, 0)} %`}
      </small>
    </li>
  );
}
