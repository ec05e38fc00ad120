import { useState } from "preact/hooks";
import { patch, post, remove } from "../api/client.ts";
import type { Role, User } from "../api/types.ts";
import { useDebounced } from "../state/debounced.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { hasRole, session } from "../state/session.ts";
import { type Submission, useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { showDate } from "../texts/format.ts";
import { membersTexts as texts } from "../texts/members.ts";
import { peopleTexts } from "../texts/people.ts";
import { DeleteButton } from "./delete-button.tsx";
import { Field } from "./field.tsx";
import { Link } from "./link.tsx";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

/** The roles that the reader may give; only an owner makes owners. */
export const givenRoles = (): readonly Role[] =>
  hasRole("OWNER") ? ["VIEWER", "USER", "ADMIN", "OWNER"] : ["VIEWER", "USER", "ADMIN"];

export function MemberList() {
  const search = useQuery().get("search") ?? "";
  const wanted = useDebounced(search);
  const [notice, setNotice] = useState("");
  const submission = useSubmit();
  return (
    <>
      <search class="filters">
        <Field label={common("search")} type="search" value={search} onInput={(text) => setQuery({ search: text })} />
      </search>
      <p class="saved" role="status">
        {notice}
      </p>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <PagedList<User>
        path={`/api/v1/auth/users/?page_size=100&search=${encodeURIComponent(wanted)}`}
        empty={texts("none")}
      >
        {(rows, reload) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{common("name")}</th>
                <th scope="col">{texts("role")}</th>
                <th scope="col">{texts("since")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {rows.map((user) => (
                <MemberRow key={user.id} user={user} submission={submission} reload={reload} onNotice={setNotice} />
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </>
  );
}

interface MemberRowProps {
  user: User;
  submission: Submission;
  reload(): void;
  onNotice(text: string): void;
}

function MemberRow({ user, submission, reload, onNotice }: MemberRowProps) {
  const { id, email, full_name, role, is_active, portal_active, created_at } = user;
  const name = full_name || email;
  const isOwn = session.get()?.me.user.id === id;
  const isOpen = is_active && !isOwn && (role !== "OWNER" || hasRole("OWNER"));
  const path = `/api/v1/auth/users/${id}/`;
  async function act(action: () => Promise<unknown>): Promise<void> {
    onNotice("");
    await submission.run(async () => {
      await action();
    });
    // After a refusal too: the row then shows again what holds.
    reload();
  }
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
        {isOpen ? (
          <select
            aria-label={texts("roleOf", { name })}
            value={role}
            disabled={submission.isBusy}
            onChange={({ currentTarget }) => void act(() => patch(path, { role: currentTarget.value }))}
          >
            {givenRoles().map((one) => (
              <option key={one} value={one}>
                {peopleTexts(one)}
              </option>
            ))}
          </select>
        ) : (
          peopleTexts(role)
        )}{" "}
        {!portal_active && <small>{peopleTexts("noAccount")}</small>}
      </td>
      <td data-label={texts("since")}>{showDate(created_at)}</td>
      <td class="row-action">
        <Link to={`/console/members/access?person=${id}`} aria-label={texts("accessOf", { name })}>
          {texts("access")}
        </Link>
        {is_active && !portal_active && (
          <button
            type="button"
            disabled={submission.isBusy}
            onClick={() =>
              void act(async () => {
                await post(`${path}invite/`);
                onNotice(texts("activationSent", { email }));
              })
            }
          >
            {texts("activation")}
          </button>
        )}
        {isOwn && <strong>{texts("you")}</strong>}
        {!is_active && <small>{texts("closed")}</small>}
        {isOpen && (
          <DeleteButton
            label={texts("end")}
            question={texts("confirmEnd", { name })}
            disabled={submission.isBusy}
            onDelete={() => void act(() => remove(path))}
          />
        )}
      </td>
    </tr>
  );
}
