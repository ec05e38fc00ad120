import { useState } from "preact/hooks";
import type { Assignment } from "../api/types.ts";
import { endAssignment } from "../state/end-assignment.ts";
import { hasRole } from "../state/session.ts";
import { accessTexts } from "../texts/access.ts";
import { assignmentTexts as texts } from "../texts/assignments.ts";
import { readerZone, showDate } from "../texts/format.ts";
import { AssignForm } from "./assign-form.tsx";
import { Link } from "./link.tsx";
import { Empty, Failure } from "./states.tsx";

export const personName = ({ user }: Assignment): string => `${user.first_name} ${user.last_name}`.trim() || user.email;

interface DeviceAssignmentsProps {
  uid: string;
  assignments: readonly Assignment[];
  onChange(): void;
}

/** Who wears the device, who cares and who may look; administrators change it. */
export function DeviceAssignments({ uid, assignments, onChange }: DeviceAssignmentsProps) {
  const [failure, setFailure] = useState<unknown>();
  const isAdmin = hasRole("ADMIN");
  async function end(row: Assignment): Promise<void> {
    setFailure(undefined);
    try {
      await endAssignment(row);
      onChange();
    } catch (error) {
      setFailure(error);
    }
  }
  const rows = assignments.toSorted((a, b) => b.role_value - a.role_value);
  return (
    <section class="card" aria-labelledby="assignments">
      <h2 id="assignments">{texts("title")}</h2>
      {rows.length === 0 && <Empty>{texts("nobody")}</Empty>}
      <ul class="people">
        {rows.map((row) => (
          <li key={row.id}>
            {isAdmin ? (
              <Link to={`/console/people/${row.user_id}`}>{personName(row)}</Link>
            ) : (
              <span>{personName(row)}</span>
            )}
            <small>
              {texts(row.role)}, {texts("since", { time: showDate(row.assigned_at, readerZone()) })}
            </small>
            {isAdmin && (
              <button
                type="button"
                class="plain"
                aria-label={texts("endOf", { name: personName(row) })}
                onClick={() => void end(row)}
              >
                {texts("end")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {failure !== undefined && <Failure error={failure} />}
      {isAdmin && (
        <p>
          <Link to={`/console/members/access?device=${uid}`}>{accessTexts("title")}</Link>
        </p>
      )}
      {isAdmin && <AssignForm uid={uid} assignments={assignments} onDone={onChange} />}
    </section>
  );
}
