import { useState } from "preact/hooks";
import { get, getAll, post } from "../api/client.ts";
import type { Assignment, UserDetail } from "../api/types.ts";
import { endAssignment } from "../state/end-assignment.ts";
import { useLoaded } from "../state/loaded.ts";
import { useSubmit } from "../state/submit.ts";
import { accessTexts as texts } from "../texts/access.ts";
import { assignmentTexts } from "../texts/assignments.ts";
import { showDate } from "../texts/format.ts";
import { peopleTexts } from "../texts/people.ts";
import { accessOf, seesEverything } from "./access-rules.ts";
import { DeviceChoice } from "./device-choice.tsx";
import { Choice } from "./field.tsx";
import { Link } from "./link.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

interface PersonAccess {
  user: UserDetail;
  rows: Assignment[];
}

async function load(id: string): Promise<PersonAccess> {
  const user = await get<UserDetail>(`/api/v1/auth/users/${id}/`);
  const path = `/api/v1/assignments/?page_size=200&search=${encodeURIComponent(user.email)}`;
  return { user, rows: (await getAll<Assignment>(path)).filter(({ user_id }) => user_id === id) };
}

export const reasonOf = (row: Assignment): string =>
  `${assignmentTexts(row.role)}. ${texts(row.source, { date: showDate(row.assigned_at) })}`;

/** The devices that a person may see, why, and what the person may do with each. */
export function AccessOfPerson({ id }: { id: string }) {
  const person = useLoaded(`access/${id}`, () => load(id));
  const submission = useSubmit();
  if (person.kind === "loading") return <Loading />;
  if (person.kind === "failed") return <Failure error={person.error} onRetry={person.reload} />;
  const { user, rows } = person.value;
  const name = user.full_name || user.email;
  const end = (row: Assignment): void =>
    void submission.run(async () => {
      await endAssignment(row);
      person.reload();
    });
  return (
    <section class="card" aria-labelledby="access-of-person">
      <h2 id="access-of-person">{texts("devicesOf", { name })}</h2>
      {!user.is_active && <p class="notice">{texts("closed")}</p>}
      {user.is_active && !user.portal_active && <p class="notice">{texts("noAccount")}</p>}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {user.is_active && !seesEverything(user.role) && rows.length === 0 && <Empty>{texts("nothing", { name })}</Empty>}
      {user.is_active && (seesEverything(user.role) || rows.length > 0) && (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">{texts("device")}</th>
              <th scope="col">{texts("may")}</th>
              <th scope="col">{texts("why")}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {seesEverything(user.role) && (
              <tr>
                <td>{texts("all")}</td>
                <td data-label={texts("may")}>{texts("act")}</td>
                <td data-label={texts("why")}>{texts("byRole", { role: peopleTexts(user.role) })}</td>
                <td />
              </tr>
            )}
            {rows.map((row) => (
              <tr key={row.id}>
                <td>
                  <Link to={`/console/devices/${row.device_uid}`}>{row.device.name || row.device_uid}</Link>
                </td>
                <td data-label={texts("may")}>{texts(accessOf(user.role, row).canAct ? "act" : "look")}</td>
                <td data-label={texts("why")}>{reasonOf(row)}</td>
                <td class="row-action">
                  <button
                    type="button"
                    class="plain"
                    disabled={submission.isBusy}
                    aria-label={texts("endOf", { name: row.device.name || row.device_uid })}
                    onClick={() => end(row)}
                  >
                    {texts("end")}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {user.is_active && <AssignDevice userId={id} onDone={person.reload} />}
    </section>
  );
}

type AssignRole = "owner" | "assigned";

function AssignDevice({ userId, onDone }: { userId: string; onDone(): void }) {
  const [uid, setUid] = useState("");
  const [role, setRole] = useState<AssignRole>("assigned");
  const submission = useSubmit();
  async function assign(event: Event): Promise<void> {
    event.preventDefault();
    const isDone = await submission.run(async () => {
      await post(`/api/v1/devices/${uid}/assign/`, { user_id: userId, role });
    });
    if (!isDone) return;
    setUid("");
    onDone();
  }
  return (
    <form aria-label={texts("add")} onSubmit={(event) => void assign(event)}>
      <h3>{texts("add")}</h3>
      <div class="columns">
        <DeviceChoice value={uid} onChange={setUid} />
        <Choice<AssignRole>
          label={assignmentTexts("role")}
          value={role}
          onChange={setRole}
          options={[
            ["assigned", assignmentTexts("assigned")],
            ["owner", assignmentTexts("owner")],
          ]}
        />
      </div>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <button type="submit" disabled={uid === "" || submission.isBusy}>
        {assignmentTexts("assign")}
      </button>
    </form>
  );
}
