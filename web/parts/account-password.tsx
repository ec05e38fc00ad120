import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import { useSubmit } from "../state/submit.ts";
import { accountTexts as texts } from "../texts/account.ts";
import { Field } from "./field.tsx";
import { Failure } from "./states.tsx";

/** Changes the own password, which ends all other sessions. */
export function AccountPassword({ email, onChanged }: { email: string; onChanged(): void }) {
  const submission = useSubmit(["current_password", "new_password"]);
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [notice, setNotice] = useState("");

  async function change(): Promise<void> {
    await post("/console/api/password/", { current_password: current, new_password: next });
    setCurrent("");
    setNext("");
    setNotice(texts("changed"));
    onChanged();
  }
  return (
    <form
      class="card"
      aria-labelledby="password"
      onSubmit={(event) => {
        event.preventDefault();
        setNotice("");
        void submission.run(change);
      }}
    >
      <h2 id="password">{texts("passwordTitle")}</h2>
      {/* Password managers store the new password for this name. */}
      <input type="text" hidden readOnly autocomplete="username" value={email} aria-label={email} />
      <Field
        label={texts("current")}
        type="password"
        autocomplete="current-password"
        required
        value={current}
        onInput={setCurrent}
        problem={submission.problem("current_password")}
      />
      <Field
        label={texts("new")}
        hint={texts("newHint")}
        type="password"
        autocomplete="new-password"
        required
        value={next}
        onInput={setNext}
        problem={submission.problem("new_password")}
      />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" disabled={submission.isBusy}>
          {texts("change")}
        </button>
        <p class="saved" role="status">
          {notice}
        </p>
      </div>
    </form>
  );
}
