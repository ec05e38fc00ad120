import { useId, useState } from "preact/hooks";
import { pickerTexts as texts } from "../texts/pickers.ts";

export interface Option {
  key: string;
  text: string;
}

interface PickerProps {
  label: string;
  options: readonly Option[];
  chosen: readonly string[];
  onChange(chosen: string[]): void;
  isSingle?: boolean;
  problem?: string | undefined;
}

/** As many as fit beside the rest of a form; a search finds the others. */
const maxShown = 8;

/** Chooses from many: what is chosen stays in sight, a search narrows the rest. */
export function Picker({ label, options, chosen, onChange, isSingle = false, problem }: PickerProps) {
  const id = useId();
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const isChosen = new Set(chosen);
  const known = new Map(options.map(({ key, text }) => [key, text]));
  const found = options.filter(
    ({ key, text }) => !isChosen.has(key) && (wanted === "" || `${text} ${key}`.toLowerCase().includes(wanted)),
  );
  const shown = [...chosen.map((key) => ({ key, text: known.get(key) ?? key })), ...found.slice(0, maxShown)];

  const toggle = (key: string): void => {
    if (isSingle) onChange([key]);
    else onChange(isChosen.has(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  };
  return (
    <fieldset class="picker">
      <legend>{label}</legend>
      {options.length > maxShown && (
        <input
          type="search"
          aria-label={`${texts("find")}: ${label}`}
          placeholder={texts("find")}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {shown.length === 0 && <p class="hint">{texts("none")}</p>}
      {shown.map(({ key, text }) => (
        <label key={key} class="check">
          <input
            type={isSingle ? "radio" : "checkbox"}
            name={id}
            checked={isChosen.has(key)}
            onChange={() => toggle(key)}
          />
          <span>{text}</span>
        </label>
      ))}
      {found.length > maxShown && <p class="hint">{texts("more", { count: found.length - maxShown })}</p>}
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}
