import { get, getAll } from "../api/client.ts";
import type { Assignment, Device, Integration, Page, Role, User } from "../api/types.ts";
import { endAssignment } from "../state/end-assignment.ts";
import { useLoaded } from "../state/loaded.ts";
import { useSubmit } from "../state/submit.ts";
import { accessTexts as texts } from "../texts/access.ts";
import { assignmentTexts } from "../texts/assignments.ts";
import { showNumber } from "../texts/format.ts";
import { peopleTexts } from "../texts/people.ts";
import { reasonOf } from "./access-of-person.tsx";
import { type Access, peopleWithAccess, seesEverything } from "./access-rules.ts";
import { AssignForm } from "./assign-form.tsx";
import { Link } from "./link.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

interface DeviceAccess {
  device: Device;
  rows: Assignment[];
  people: { userId: string; access: Access; name: string; email: string }[];
  programCount: number;
}

/** All who see everything: they come first in this order, so that not all members are read. */
async function loadAdministrators(): Promise<User[]> {
  const found: User[] = [];
  for (let next: string | null = "/api/v1/auth/users/?page_size=100&ordering=-role"; next !== null; ) {
    const page: Page<User> = await get<Page<User>>(next);
    const some = page.results.filter(({ role }) => seesEverything(role));
    found.push(...some);
    const hasMore = some.length === page.results.length && page.next !== null;
    next = hasMore ? new URL(page.next as string).pathname + new URL(page.next as string).search : null;
  }
  return found;
}

async function load(uid: string): Promise<DeviceAccess> {
  const [device, all, administrators, programs] = await Promise.all([
    get<Device>(`/api/v1/devices/${uid}/`),
    getAll<Assignment>(`/api/v1/assignments/?page_size=200&search=${uid}`),
    loadAdministrators(),
    get<Page<Integration>>("/console/api/integrations/?page_size=1"),
  ]);
  const rows = all.filter(({ device_uid }) => device_uid === uid);
  const members = await Promise.all(rows.map(({ user_id }) => get<User>(`/api/v1/auth/users/${user_id}/`)));
  const users = new Map([...members, ...administrators].map((user) => [user.id, user]));
  const roleOf = (id: string): Role | undefined => users.get(id)?.role;
  const people = peopleWithAccess(administrators, rows, roleOf).map(({ userId, access }) => {
    const user = users.get(userId);
    return { userId, access, name: user?.full_name || user?.email || userId, email: user?.email ?? "" };
  });
  return { device, rows, people, programCount: programs.count ?? 0 };
}

/** The people who may see a device, why, and what each may do. */
export function AccessOfDevice({ uid }: { uid: string }) {
  const access = useLoaded(`access/${uid}`, () => load(uid));
  const submission = useSubmit();
  if (access.kind === "loading") return <Loading />;
  if (access.kind === "failed") return <Failure error={access.error} onRetry={access.reload} />;
  const { device, rows, people, programCount } = access.value;
  const end = (row: Assignment): void =>
    void submission.run(async () => {
      await endAssignment(row);
      access.reload();
    });
  return (
    <section class="card" aria-labelledby="access-of-device">
      <h2 id="access-of-device">{texts("peopleOf", { name: device.name || uid })}</h2>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {rows.length === 0 && <Empty>{texts("nobodyElse")}</Empty>}
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">{assignmentTexts("person")}</th>
            <th scope="col">{texts("may")}</th>
            <th scope="col">{texts("why")}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {people.map(({ userId, access: one, name, email }) => (
            <tr key={userId}>
              <td>
                <Link to={`/console/members/access?person=${userId}`}>{name}</Link>
                {name !== email && (
                  <>
                    <br />
                    <small>{email}</small>
                  </>
                )}
              </td>
              <td data-label={texts("may")}>{texts(one.canAct ? "act" : "look")}</td>
              <td data-label={texts("why")}>
                {one.by === "role" ? texts("byRole", { role: peopleTexts(one.role) }) : reasonOf(one.row)}
              </td>
              <td class="row-action">
                {one.by === "assignment" && (
                  <button
                    type="button"
                    class="plain"
                    disabled={submission.isBusy}
                    aria-label={texts("endOf", { name })}
                    onClick={() => end(one.row)}
                  >
                    {texts("end")}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        <Link to="/console/integrations">{texts("integrations", { count: showNumber(programCount, 0) })}</Link>
      </p>
      <AssignForm uid={uid} assignments={rows} onDone={access.reload} />
    </section>
  );
}
