import { useEffect, useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import type { LinkView, OpenInvitation } from "../api/types.ts";
import { Field } from "../parts/field.tsx";
import { Ending, LinkPage } from "../parts/link-page.tsx";
import { PasswordField } from "../parts/password-field.tsx";
import { isTooShort } from "../parts/password-page.tsx";
import { Loading } from "../parts/states.tsx";
import { forgetMailedLink, takeMailedLink } from "../state/mailed-link.ts";
import { acceptTexts as texts } from "../texts/accept.ts";
import { activateTexts } from "../texts/activate.ts";

type Outcome = "done" | "invalid" | "expired";
type OpenView = Extract<LinkView, { kind: "open" }>;

/** Where the mail of an invitation leads: who has a password gives it, anybody else chooses one. */
export function AcceptPage() {
  const [link] = useState(takeMailedLink);
  const [end, setEnd] = useState<Outcome | undefined>();
  if (!link) return <Loading />;
  const { view, token } = link;
  if (end === "done") return <Ending title={texts("doneTitle")} text={texts("done")} />;
  if (end !== undefined || view.kind !== "open" || !view.invitation) {
    const kind = end ?? (view.kind === "expired" ? "expired" : "invalid");
    return <Ending title={activateTexts(`${kind}Title`)} text={activateTexts(kind)} />;
  }
  const finish = (outcome: Outcome): void => {
    forgetMailedLink();
    setEnd(outcome);
  };
  return <AcceptForm token={token} view={view} invitation={view.invitation} onEnd={finish} />;
}

interface AcceptFormProps {
  token: string;
  view: OpenView;
  invitation: OpenInvitation;
  onEnd(outcome: Outcome): void;
}

/** How a refusal ends the link; undefined: it can be tried again. */
function endOf(error: unknown): "invalid" | "expired" | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (error.code === "invitation_expired") return "expired";
  return error.status === 404 || error.status === 409 ? "invalid" : undefined;
}

function problemOf(error: unknown): string {
  if (!(error instanceof Refusal)) return activateTexts("failed");
  if (error.status === 401) return texts("wrongPassword");
  if (error.status === 429) return texts("tooMany");
  return activateTexts(error.fields.password ? "tooShort" : "failed");
}

function AcceptForm({ token, view, invitation, onEnd }: AcceptFormProps) {
  const { kind, first_name, last_name, has_password, is_member } = invitation;
  const [names, setNames] = useState({ first_name, last_name });
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${texts("title")} · Vigil`;
  }, []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setProblem("");
    if (has_password ? password === "" : isTooShort(password)) return setProblem(activateTexts("tooShort"));
    setBusy(true);
    try {
      await post("/console/api/accept/", { token, password, ...(is_member ? {} : names) });
      onEnd("done");
    } catch (error) {
      const ended = endOf(error);
      if (ended) onEnd(ended);
      else setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <LinkPage>
      <h1>{texts("title")}</h1>
      <p>{texts(kind, { organization: view.organization })}</p>
      <form noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={activateTexts("email")}
          type="email"
          autocomplete="username"
          readOnly
          value={view.email}
          onInput={() => undefined}
        />
        {!is_member && (
          <>
            <Field
              label={texts("firstName")}
              maxLength={100}
              autocomplete="given-name"
              value={names.first_name}
              onInput={(value) => setNames({ ...names, first_name: value })}
            />
            <Field
              label={texts("lastName")}
              maxLength={100}
              autocomplete="family-name"
              value={names.last_name}
              onInput={(value) => setNames({ ...names, last_name: value })}
            />
          </>
        )}
        <PasswordField
          label={has_password ? texts("currentPassword") : activateTexts("password")}
          hint={has_password ? texts("currentHint") : activateTexts("hint")}
          autocomplete={has_password ? "current-password" : "new-password"}
          value={password}
          onInput={setPassword}
        />
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={isBusy}>
          {texts("submit")}
        </button>
      </form>
    </LinkPage>
  );
}
