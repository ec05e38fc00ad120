import { useId } from "preact/hooks";
import { pickerTexts as texts } from "../texts/pickers.ts";

interface ZoneFieldProps {
  value: string;
  onInput(value: string): void;
  /** Shown in an empty field: the zone that then counts. */
  placeholder?: string;
  hint?: string;
  problem?: string | undefined;
}

/** A time zone by its name, with the names that the browser knows offered. */
export function ZoneField({ value, onInput, placeholder, hint, problem }: ZoneFieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{texts("zone")}</label>
      <input
        id={id}
        type="text"
        list={`${id}-zones`}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...(placeholder ? { placeholder } : {})}
        {...(described ? { "aria-describedby": described } : {})}
        {...(problem ? { "aria-invalid": true } : {})}
      />
      <datalist id={`${id}-zones`}>
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
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
