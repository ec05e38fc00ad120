import { useEffect, useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import { forgetMailedLink, type MailedLink, takeMailedLink } from "../state/mailed-link.ts";
import type { activateTexts } from "../texts/activate.ts";
import { Field } from "./field.tsx";
import { Ending, LinkPage } from "./link-page.tsx";
import { PasswordField } from "./password-field.tsx";
import { Loading } from "./states.tsx";

interface PasswordPageProps {
  texts: typeof activateTexts;
  /** The call that takes the token of the link and the password. */
  target: string;
}

export const minPasswordLength = 8;
export const isTooShort = (password: string): boolean => [...password].length < minPasswordLength;

/** A page whose one task is a new password. */
export function PasswordPage({ texts, target }: PasswordPageProps) {
  const [link] = useState(takeMailedLink);
  const [end, setEnd] = useState<"done" | "invalid" | "expired" | undefined>();
  if (!link) return <Loading />;
  const kind = end ?? (link.view.kind === "open" ? undefined : link.view.kind);
  if (kind) {
    return <Ending title={texts(`${kind}Title`)} text={texts(kind)} />;
  }
  const finish = (outcome: "done" | "invalid" | "expired"): void => {
    forgetMailedLink();
    setEnd(outcome);
  };
  return <PasswordForm link={link} texts={texts} target={target} onEnd={finish} />;
}

interface PasswordFormProps extends PasswordPageProps {
  link: MailedLink;
  onEnd(outcome: "done" | "invalid" | "expired"): void;
}

function PasswordForm({ link: { token, view }, texts, target, onEnd }: PasswordFormProps) {
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${texts("title")} · Vigil`;
  }, []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setProblem("");
    if (isTooShort(password)) return setProblem(texts("tooShort"));
    setBusy(true);
    try {
      await post(target, { token, password });
      onEnd("done");
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) onEnd("invalid");
      else if (error instanceof Refusal && error.fields.token) onEnd("expired");
      else setProblem(texts(error instanceof Refusal && error.fields.password ? "tooShort" : "failed"));
    } finally {
      setBusy(false);
    }
  }
  const { organization, email } = view.kind === "open" ? view : { organization: "", email: "" };
  return (
    <LinkPage>
      <h1>{texts("title")}</h1>
      <p>{texts("intro", { organization })}</p>
      <form noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={texts("email")}
          type="email"
          autocomplete="username"
          readOnly
          value={email}
          onInput={() => undefined}
        />
        <PasswordField
          label={texts("password")}
          hint={texts("hint")}
          autocomplete="new-password"
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
