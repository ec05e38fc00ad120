import { get, getAll } from "../api/client.ts";
import type { Assignment, UserDetail } from "../api/types.ts";
import { DeviceView, useDevice } from "../parts/device-view.tsx";
import { isMissing } from "../parts/missing.ts";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { useLoaded } from "../state/loaded.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { assignmentTexts as texts } from "../texts/assignments.ts";
import { common } from "../texts/common.ts";
import { NotFoundPage } from "./not-found.tsx";

interface Person {
  user: UserDetail;
  assignments: Assignment[];
}

async function loadPerson(id: string): Promise<Person> {
  const user = await get<UserDetail>(`/api/v1/auth/users/${id}/`);
  const search = encodeURIComponent(user.email);
  const rows = await getAll<Assignment>(`/api/v1/assignments/?page_size=200&search=${search}`);
  // The device that the person wears comes first.
  const own = rows.filter(({ user_id }) => user_id === id).toSorted((a, b) => b.role_value - a.role_value);
  return { user, assignments: own };
}

function PersonsDevice({ uid, onAssignments }: { uid: string; onAssignments(): void }) {
  const device = useDevice(uid);
  if (device.kind === "loading") return <Loading />;
  if (device.kind === "failed") return <Failure error={device.error} onRetry={device.reload} />;
  return <DeviceView device={device.value} onAssignments={onAssignments} />;
}

/** A person with the devices they wear or care for; one of them is shown whole. */
export function PersonPage({ id }: { id: string }) {
  const person = useLoaded(id, () => loadPerson(id));
  const asked = useQuery().get("device");
  if (person.kind === "loading") return <Loading />;
  if (person.kind === "failed") {
    if (isMissing(person.error)) return <NotFoundPage />;
    return (
      <>
        <PageTitle>{common("people")}</PageTitle>
        <Failure error={person.error} onRetry={person.reload} />
      </>
    );
  }
  const { user, assignments } = person.value;
  const shown = assignments.find(({ device_uid }) => device_uid === asked) ?? assignments[0];
  return (
    <>
      <PageTitle>{user.full_name || user.email}</PageTitle>
      <p class="contact">
        <a href={`mailto:${user.email}`}>{user.email}</a>
        {user.phone_number !== "" && <a href={`tel:${user.phone_number}`}>{user.phone_number}</a>}
      </p>
      {!user.is_active && <p class="notice">{texts("closed")}</p>}
      {!shown && <Empty>{texts("noDevices")}</Empty>}
      {assignments.length > 0 && (
        <fieldset class="ranges devices-of">
          <legend>{texts("devicesOf")}</legend>
          {assignments.map(({ id: key, device, device_uid, role }) => (
            <button
              key={key}
              type="button"
              aria-pressed={device_uid === shown?.device_uid}
              onClick={() => setQuery({ device: device_uid })}
            >
              {device.name || device_uid} <small>{texts(role)}</small>
            </button>
          ))}
        </fieldset>
      )}
      {shown && <PersonsDevice key={shown.device_uid} uid={shown.device_uid} onAssignments={person.reload} />}
    </>
  );
}
