import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  value: string;
  onInput(value: string): void;
  type?: "text" | "email" | "password" | "number" | "search" | "date" | "datetime-local" | "time" | "url" | "tel";
  hint?: string;
  problem?: string | undefined;
  required?: boolean;
  autocomplete?: string;
  min?: number | string;
  max?: number | string;
  step?: number | string;
  maxLength?: number;
  disabled?: boolean;
  readOnly?: boolean;
}

/** A labelled text field with its hint and its problem, both read out with it. */
export function Field({ label, value, onInput, hint, problem, type = "text", ...rest }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type as "text"}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...(described ? { "aria-describedby": described } : {})}
        {...(problem ? { "aria-invalid": true } : {})}
        {...rest}
      />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {problem && (
        <p id={`${id}-problem`} class="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  onChange(value: T): void;
  hint?: string;
  disabled?: boolean;
}

export function Choice<T extends string>({ label, value, options, onChange, hint, disabled }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled === true}
        onChange={(event) => onChange(event.currentTarget.value as T)}
        {...(hint ? { "aria-describedby": `${id}-hint` } : {})}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

export function Check({ label, checked, onChange }: { label: string; checked: boolean; onChange(on: boolean): void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
