import { useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { Assignment, Page, User } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { assignmentTexts as texts } from "../texts/assignments.ts";
import { Choice, Field } from "./field.tsx";
import { Failure } from "./states.tsx";

interface AssignFormProps {
  uid: string;
  assignments: readonly Assignment[];
  onDone(): void;
}

type AssignRole = "owner" | "assigned";

const nameOf = ({ full_name, email }: User): string => (full_name === "" ? email : `${full_name} (${email})`);

/** Opened on demand: assigns a member, or shares the device with anybody who may look. */
export function AssignForm({ uid, assignments, onDone }: AssignFormProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts("add")}</summary>
      {isOpen && <MemberForm uid={uid} assignments={assignments} onDone={onDone} />}
      {isOpen && <ShareForm uid={uid} onDone={onDone} />}
    </details>
  );
}

function MemberForm({ uid, assignments, onDone }: AssignFormProps) {
  const path = "/api/v1/auth/users/?page_size=200&ordering=last_name,first_name";
  const users = useLoaded(path, () => get<Page<User>>(path));
  const [userId, setUserId] = useState("");
  const [role, setRole] = useState<AssignRole>("assigned");
  const [failure, setFailure] = useState<unknown>();
  const taken = new Set(assignments.map(({ user_id }) => user_id));
  const free = users.kind === "ready" ? users.value.results.filter(({ id }) => !taken.has(id)) : [];
  async function assign(event: Event): Promise<void> {
    event.preventDefault();
    setFailure(undefined);
    if (userId === "") return;
    try {
      await post(`/api/v1/devices/${uid}/assign/`, { user_id: userId, role });
      setUserId("");
      onDone();
    } catch (error) {
      setFailure(error);
    }
  }
  return (
    <form onSubmit={(event) => void assign(event)}>
      <Choice
        label={texts("person")}
        value={userId}
        onChange={setUserId}
        options={[["", texts("choose")], ...free.map((user) => [user.id, nameOf(user)] as const)]}
      />
      <Choice<AssignRole>
        label={texts("role")}
        value={role}
        onChange={setRole}
        options={[
          ["assigned", texts("assigned")],
          ["owner", texts("owner")],
        ]}
      />
      {failure !== undefined && <Failure error={failure} />}
      <button type="submit" disabled={userId === ""}>
        {texts("assign")}
      </button>
    </form>
  );
}

function ShareForm({ uid, onDone }: { uid: string; onDone(): void }) {
  const [email, setEmail] = useState("");
  const [notice, setNotice] = useState("");
  const [failure, setFailure] = useState<unknown>();
  async function share(event: Event): Promise<void> {
    event.preventDefault();
    setFailure(undefined);
    setNotice("");
    try {
      const { result } = await post<{ result: string }>(`/api/v1/devices/${uid}/share/`, { email });
      if (result === "invited") setNotice(texts("invited"));
      setEmail("");
      onDone();
    } catch (error) {
      setFailure(error);
    }
  }
  return (
    <form onSubmit={(event) => void share(event)}>
      <h3>{texts("share")}</h3>
      <Field label={texts("email")} type="email" required value={email} onInput={setEmail} />
      {failure !== undefined && <Failure error={failure} />}
      <p class="notice" role="status">
        {notice}
      </p>
      <button type="submit">{texts("doShare")}</button>
    </form>
  );
}
