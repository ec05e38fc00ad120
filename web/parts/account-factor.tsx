import { useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { FactorState } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { useSubmit } from "../state/submit.ts";
import { accountTexts as texts } from "../texts/account.ts";
import { common } from "../texts/common.ts";
import { Field } from "./field.tsx";
import { Failure, Loading } from "./states.tsx";

type Step =
  | { kind: "rest" }
  | { kind: "password" }
  | { kind: "secret"; secret: string; otpauth_url: string }
  | { kind: "codes"; codes: string[] }
  | { kind: "disable" };

/** The second factor of the reader: set up with an app, confirmed by its first code, switched off with password and code. */
export function AccountFactor() {
  const factor = useLoaded("factor", () => get<FactorState>("/console/api/second-factor/"));
  const [step, setStep] = useState<Step>({ kind: "rest" });
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const submission = useSubmit(["password", "otp"]);
  if (factor.kind === "loading") return <Loading />;
  if (factor.kind === "failed") return <Failure error={factor.error} onRetry={factor.reload} />;

  const go = (next: Step): void => {
    setPassword("");
    setCode("");
    submission.clear();
    setStep(next);
  };
  const rest = (): void => {
    go({ kind: "rest" });
    factor.reload();
  };
  const actions: Readonly<Partial<Record<Step["kind"], () => Promise<void>>>> = {
    password: async () => {
      const begun = await post<{ secret: string; otpauth_url: string }>("/console/api/second-factor/", { password });
      go({ kind: "secret", ...begun });
    },
    secret: async () => {
      const made = await post<{ recovery_codes: string[] }>("/console/api/second-factor/confirm/", { otp: code });
      go({ kind: "codes", codes: made.recovery_codes });
    },
    disable: async () => {
      await post("/console/api/second-factor/disable/", { password, otp: code });
      rest();
    },
  };
  const { enabled, recovery_codes_left: left } = factor.value;
  const passwordField = (
    <Field
      label={texts("password")}
      type="password"
      autocomplete="current-password"
      required
      value={password}
      onInput={setPassword}
      problem={submission.problem("password")}
    />
  );
  const codeField = (label: string) => (
    <Field
      label={label}
      autocomplete="one-time-code"
      required
      value={code}
      onInput={setCode}
      problem={submission.problem("otp")}
    />
  );
  const submitTexts = { password: "next", secret: "confirm", disable: "disable" } as const;
  return (
    <form
      class="card"
      aria-labelledby="factor"
      onSubmit={(event) => {
        event.preventDefault();
        const action = actions[step.kind];
        if (action) void submission.run(action);
      }}
    >
      <h2 id="factor">{texts("factor")}</h2>
      {step.kind === "rest" && (
        <>
          <p>{texts(enabled ? "factorOn" : "factorOff")}</p>
          {enabled && <p>{texts("codesLeft", { count: left })}</p>}
          <button type="button" onClick={() => go({ kind: enabled ? "disable" : "password" })}>
            {texts(enabled ? "disable" : "setUp")}
          </button>
        </>
      )}
      {step.kind === "password" && passwordField}
      {step.kind === "secret" && (
        <>
          <p>{texts("secretHint")}</p>
          <p>
            <a href={step.otpauth_url}>{texts("openApp")}</a>
          </p>
          <p class="factor-secret">
            <span class="hint">{texts("secret")}: </span>
            <code>{(step.secret.match(/.{1,4}/g) ?? []).join(" ")}</code>
          </p>
          {codeField(texts("code"))}
        </>
      )}
      {step.kind === "codes" && (
        <>
          <h3>{texts("recovery")}</h3>
          <p>{texts("recoveryHint")}</p>
          <ul class="factor-codes" aria-label={texts("recovery")}>
            {step.codes.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <button type="button" class="primary" onClick={rest}>
            {texts("understood")}
          </button>
        </>
      )}
      {step.kind === "disable" && (
        <>
          {passwordField}
          {codeField(texts("disableCode"))}
        </>
      )}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {step.kind !== "rest" && step.kind !== "codes" && (
        <div class="actions">
          <button type="submit" class="primary" disabled={submission.isBusy}>
            {texts(submitTexts[step.kind])}
          </button>
          <button type="button" onClick={() => go({ kind: "rest" })}>
            {common("cancel")}
          </button>
        </div>
      )}
    </form>
  );
}
