import { useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import { Field } from "../parts/field.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { navigate, useQuery } from "../state/router.ts";
import { signIn } from "../state/session.ts";
import { common } from "../texts/common.ts";
import { signInTexts as texts } from "../texts/sign-in.ts";

type Step = "password" | "organization" | "code";

/** Only addresses of the console itself: a link must not lead away after signing in. */
const safeNext = (next: string | null): string => (next?.startsWith("/console") === true ? next : "/console/");

function problemOf(error: unknown): string {
  if (!(error instanceof Refusal)) return common("unreachable");
  if (error.status === 429) return texts("tooMany");
  return error.code === "invalid_credentials" ? texts("wrong") : error.message;
}

/** Asks for more only when it is needed: the organization with several memberships, the code with a second factor. */
export function SignInPage() {
  const next = safeNext(useQuery().get("next"));
  const [step, setStep] = useState<Step>("password");
  const [problem, setProblem] = useState("");
  const [notice, setNotice] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [fields, setFields] = useState({ email: "", password: "", organization: "", otp: "" });
  const change = (name: keyof typeof fields) => (value: string) => setFields({ ...fields, [name]: value });

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setProblem("");
    setNotice("");
    setBusy(true);
    try {
      const { email, password, organization, otp } = fields;
      await signIn({ email, password, ...(organization && { organization }), ...(otp && { otp }) });
      navigate(next, { replace: true });
    } catch (error) {
      if (error instanceof Refusal && error.code === "second_factor_required") setStep("code");
      else if (error instanceof Refusal && error.fields.organization) setStep("organization");
      else setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  async function forgot(): Promise<void> {
    setProblem("");
    if (fields.email.trim() === "") return setProblem(texts("emailFirst"));
    try {
      await post("/console/api/password/forgot/", { email: fields.email });
      setNotice(texts("mailed"));
    } catch (error) {
      setProblem(problemOf(error));
    }
  }

  return (
    <main class="sheet" id="content">
      <p class="brand">Vigil</p>
      <PageTitle>{common("signIn")}</PageTitle>
      <form onSubmit={(event) => void submit(event)}>
        <Field
          label={texts("email")}
          type="email"
          autocomplete="username"
          required
          value={fields.email}
          onInput={change("email")}
        />
        <Field
          label={texts("password")}
          type="password"
          autocomplete="current-password"
          required
          value={fields.password}
          onInput={change("password")}
        />
        {(step === "organization" || fields.organization !== "") && (
          <Field
            label={texts("organization")}
            hint={texts("organizationHint")}
            required
            value={fields.organization}
            onInput={change("organization")}
          />
        )}
        {step === "code" && (
          <Field
            label={texts("code")}
            hint={texts("codeHint")}
            autocomplete="one-time-code"
            required
            value={fields.otp}
            onInput={change("otp")}
          />
        )}
        <p class="problem" role="alert">
          {problem}
        </p>
        <p class="notice" role="status">
          {notice}
        </p>
        <button type="submit" class="primary" disabled={isBusy}>
          {common("signIn")}
        </button>
        <button type="button" class="plain" onClick={() => void forgot()}>
          {texts("forgot")}
        </button>
      </form>
    </main>
  );
}
