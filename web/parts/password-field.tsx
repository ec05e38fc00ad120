import { useState } from "preact/hooks";
import { activateTexts as texts } from "../texts/activate.ts";
import { Check, Field } from "./field.tsx";

interface PasswordFieldProps {
  label: string;
  hint: string;
  autocomplete: "new-password" | "current-password";
  value: string;
  onInput(value: string): void;
}

/** A password that can be looked at while it is typed. */
export function PasswordField({ label, hint, autocomplete, value, onInput }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <Field
        label={label}
        hint={hint}
        type={isShown ? "text" : "password"}
        autocomplete={autocomplete}
        required
        maxLength={1024}
        value={value}
        onInput={onInput}
      />
      <Check label={texts("show")} checked={isShown} onChange={setShown} />
    </>
  );
}
