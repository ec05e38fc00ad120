import { useState } from "preact/hooks";
import { get, post, Refusal } from "../api/client.ts";
import type { Invitation, Page, Role } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { showDate } from "../texts/format.ts";
import { membersTexts as texts } from "../texts/members.ts";
import { peopleTexts } from "../texts/people.ts";
import { DeleteButton } from "./delete-button.tsx";
import { Choice, Field } from "./field.tsx";
import { givenRoles } from "./member-list.tsx";
import { PagedList } from "./paged-list.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

const path = "/api/v1/organizations/invitations/?page_size=50&ordering=-created_at";

/** Who was asked to join. An organization without the feature is told so, and offered nothing that would be refused. */
export function Invitations() {
  const [round, setRound] = useState(0);
  const allowed = useLoaded("invitations allowed", () => get<Page<Invitation>>(`${path}&page=1`));
  const isRefused = allowed.kind === "failed" && allowed.error instanceof Refusal && allowed.error.status === 403;
  return (
    <section class="card" aria-labelledby="invitations">
      <h2 id="invitations">{texts("invitations")}</h2>
      {allowed.kind === "loading" && <Loading />}
      {isRefused && <Empty>{texts("notEnabled")}</Empty>}
      {allowed.kind === "failed" && !isRefused && <Failure error={allowed.error} onRetry={allowed.reload} />}
      {allowed.kind === "ready" && <InviteForm onDone={() => setRound(round + 1)} />}
      {allowed.kind === "ready" && <InvitationList key={round} />}
    </section>
  );
}

function InviteForm({ onDone }: { onDone(): void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("USER");
  const [notice, setNotice] = useState("");
  const submission = useSubmit(["email"]);
  async function invite(event: Event): Promise<void> {
    event.preventDefault();
    setNotice("");
    const isDone = await submission.run(() => post("/console/api/invitations/", { email, role }));
    if (!isDone) return;
    setNotice(texts("invited", { email }));
    setEmail("");
    onDone();
  }
  return (
    <form aria-label={texts("inviteTitle")} onSubmit={(event) => void invite(event)}>
      <div class="columns">
        <Field
          label={texts("email")}
          type="email"
          required
          value={email}
          onInput={setEmail}
          problem={submission.problem("email")}
        />
        <Choice<Role>
          label={texts("role")}
          value={role}
          onChange={setRole}
          options={givenRoles().map((one) => [one, peopleTexts(one)] as const)}
        />
      </div>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <button type="submit" class="primary" disabled={submission.isBusy}>
        {texts("invite")}
      </button>
      <p class="notice" role="status">
        {notice}
      </p>
    </form>
  );
}

function InvitationList() {
  const submission = useSubmit();
  const [notice, setNotice] = useState("");
  async function resend(id: string, email: string, reload: () => void): Promise<void> {
    setNotice("");
    await submission.run(async () => {
      try {
        await post(`/console/api/invitations/${id}/resend/`);
        setNotice(texts("resent", { email }));
        reload();
      } catch (error) {
        if (!(error instanceof Refusal && error.status === 429)) throw error;
        setNotice(texts("tooSoon"));
      }
    });
  }
  return (
    <>
      <p class="notice" role="status">
        {notice}
      </p>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <PagedList<Invitation> path={path} empty={texts("noInvitations")}>
        {(rows, reload) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{texts("email")}</th>
                <th scope="col">{texts("role")}</th>
                <th scope="col">{common("status")}</th>
                <th scope="col">{texts("mail")}</th>
                <th scope="col">{texts("expires")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, email, role, kind, status_display, email_status, expires_at }) => (
                <tr key={id}>
                  <td>{email}</td>
                  <td data-label={texts("role")}>{kind === "share" ? texts("share") : peopleTexts(role)}</td>
                  <td data-label={common("status")}>{texts(status_display)}</td>
                  <td data-label={texts("mail")}>{texts(email_status)}</td>
                  <td data-label={texts("expires")}>{showDate(expires_at)}</td>
                  <td class="row-action">
                    {status_display === "Pending" && (
                      <button
                        type="button"
                        disabled={submission.isBusy}
                        aria-label={texts("resendOf", { email })}
                        onClick={() => void resend(id, email, reload)}
                      >
                        {texts("resend")}
                      </button>
                    )}
                    {status_display === "Pending" && (
                      <DeleteButton
                        label={texts("revoke")}
                        question={texts("confirmRevoke", { email })}
                        disabled={submission.isBusy}
                        onDelete={() =>
                          void submission.run(async () => {
                            await post(`/api/v1/organizations/invitations/${id}/revoke/`);
                            reload();
                          })
                        }
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </>
  );
}
