import { useId, useRef, useState } from "preact/hooks";
import { useDebounced } from "../state/debounced.ts";
import { useLoaded } from "../state/loaded.ts";
import { pickerTexts as texts } from "../texts/pickers.ts";
import type { FoundOptions, Option } from "./picker-sources.ts";
import { Failure } from "./states.tsx";

interface PickerProps {
  label: string;
  /** Asks the service: there may be more to choose from than a page holds. */
  find(search: string): Promise<FoundOptions>;
  /** What is chosen already, if the form knows its name. */
  textOf(key: string): string | undefined;
  chosen: readonly string[];
  onChange(chosen: string[]): void;
  isSingle?: boolean;
  problem?: string | undefined;
}

/** As many as fit beside the rest of a form; a search finds the others. */
const maxShown = 8;
const none: FoundOptions = { count: 0, options: [] };

/** Chooses from many: what is chosen stays in sight, a search narrows the rest. */
export function Picker({ label, find, textOf, chosen, onChange, isSingle = false, problem }: PickerProps) {
  const id = useId();
  const [search, setSearch] = useState("");
  const wanted = useDebounced(search.trim());
  const loaded = useLoaded(wanted, () => find(wanted));
  /** What was found last stays while the next is on its way. */
  const latest = useRef(none);
  if (loaded.kind === "ready") latest.current = loaded.value;
  const seen = useRef(new Map<string, string>());
  const { count, options } = latest.current;
  for (const { key, text } of options) seen.current.set(key, text);
  const isChosen = new Set(chosen);
  const others = options.filter(({ key }) => !isChosen.has(key)).slice(0, maxShown);
  const named = (key: string): Option => ({ key, text: seen.current.get(key) ?? textOf(key) ?? key });
  const shown = [...chosen.map(named), ...others];
  const isLong = useRef(false);
  isLong.current ||= count > maxShown;
  const chosenHere = options.filter(({ key }) => isChosen.has(key)).length;
  const moreCount = count - chosenHere - others.length;

  const toggle = (key: string): void => {
    if (isSingle) onChange([key]);
    else onChange(isChosen.has(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  };
  return (
    <fieldset class="picker">
      <legend>{label}</legend>
      {isLong.current && (
        <input
          type="search"
          aria-label={`${texts("find")}: ${label}`}
          placeholder={texts("find")}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {loaded.kind === "failed" && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.kind === "ready" && shown.length === 0 && <p class="hint">{texts("none")}</p>}
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
      {moreCount > 0 && <p class="hint">{texts("more", { count: moreCount })}</p>}
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}
