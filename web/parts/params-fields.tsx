import { wordFor } from "../texts/command-words.ts";
import { commandTexts as texts } from "../texts/commands.ts";
import { common } from "../texts/common.ts";
import { Check, Choice, Field } from "./field.tsx";
import { emptyRow, type FormField, type FormValue, type FormValues } from "./params-form.ts";

interface ParamsFieldsProps {
  fields: readonly FormField[];
  values: FormValues;
  problems: Readonly<Record<string, string>>;
  required: ReadonlySet<string>;
  onChange(values: FormValues): void;
}

const rangeHint = (min: number | undefined, max: number | undefined): string | undefined =>
  min === undefined || max === undefined ? undefined : texts("range", { min, max });

/** The fields of a command, each by the kind of its parameter. */
export function ParamsFields({ fields, values, problems, required, onChange }: ParamsFieldsProps) {
  const change = (name: string) => (value: FormValue) => onChange({ ...values, [name]: value });
  return (
    <>
      {fields.map((field) => {
        const { name } = field;
        const label = wordFor(name);
        const value = values[name];
        const text = typeof value === "string" ? value : "";
        const problem = problems[name];
        switch (field.kind) {
          case "check":
            return <Check key={name} label={label} checked={value === true} onChange={change(name)} />;
          case "choice": {
            const choices = field.options.map((option) => [option, wordFor(option)] as const);
            const options = required.has(name) ? choices : [["", "–"] as const, ...choices];
            return <Choice key={name} label={label} value={text} options={options} onChange={change(name)} />;
          }
          case "number":
            return (
              <Field
                key={name}
                type="number"
                label={label}
                value={text}
                problem={problem}
                required={required.has(name)}
                onInput={change(name)}
                {...(field.isInteger ? { step: 1 } : { step: "any" })}
                {...hintOf(rangeHint(field.min, field.max))}
              />
            );
          case "list":
            return (
              <ListField
                key={name}
                label={label}
                field={field}
                rows={Array.isArray(value) ? (value as readonly FormValues[]) : []}
                problem={problem}
                onChange={change(name)}
              />
            );
          default:
            return (
              <Field
                key={name}
                label={label}
                value={text}
                problem={problem}
                required={required.has(name)}
                onInput={change(name)}
                {...(field.maxLength === undefined ? {} : { maxLength: field.maxLength })}
                {...hintOf(field.format === "iana-time-zone" ? "Europe/Rome" : undefined)}
              />
            );
        }
      })}
    </>
  );
}

const hintOf = (hint: string | undefined): { hint?: string } => (hint === undefined ? {} : { hint });

interface ListFieldProps {
  label: string;
  field: Extract<FormField, { kind: "list" }>;
  rows: readonly FormValues[];
  problem: string | undefined;
  onChange(rows: readonly FormValues[]): void;
}

function ListField({ label, field, rows, problem, onChange }: ListFieldProps) {
  const replaced = (index: number, row: FormValues): FormValues[] =>
    rows.map((one, place) => (place === index ? row : one));
  return (
    <fieldset class="list-field">
      <legend>{label}</legend>
      {rows.map((row, index) => (
        // Rows have no name of their own; their place is what tells them apart.
        <div key={String(index)} class="row">
          <ParamsFields
            fields={field.of}
            values={row}
            problems={{}}
            required={new Set()}
            onChange={(next) => onChange(replaced(index, next))}
          />
          <button
            type="button"
            aria-label={`${texts("remove")} ${index + 1}`}
            onClick={() => onChange(rows.filter((_, place) => place !== index))}
          >
            {texts("remove")}
          </button>
        </div>
      ))}
      {rows.length === 0 && <p class="hint">{common("nothing")}</p>}
      {rows.length < (field.maxItems ?? Number.POSITIVE_INFINITY) && (
        <button type="button" onClick={() => onChange([...rows, emptyRow(field.of)])}>
          {texts("add")}
        </button>
      )}
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}
