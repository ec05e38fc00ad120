import { useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import type { Capability, Command } from "../api/types.ts";
import { wordFor } from "../texts/command-words.ts";
import { commandTexts as texts } from "../texts/commands.ts";
import { common } from "../texts/common.ts";
import { Choice } from "./field.tsx";
import { ParamsFields } from "./params-fields.tsx";
import {
  type FormValues,
  fieldsOf,
  initialValues,
  type ParamsSchema,
  type Problem,
  paramsOf,
  problemsOf,
  requiredNow,
} from "./params-form.ts";
import { Failure } from "./states.tsx";

interface CommandFormProps {
  base: string;
  commands: readonly Capability[];
  isOnline: boolean;
  onSent(command: Command): void;
}

/** What ends the contact with the device, or all that it knows: asked for once more. */
const drastic: ReadonlySet<string> = new Set(["power_off", "factory_reset", "restart"]);

const words: Readonly<Record<Problem, () => string>> = {
  required: () => common("required"),
  range: () => texts("notNumber"),
  number: () => texts("notNumber"),
  one: () => texts("oneOf"),
};

/** Refusals of the API name parameters as `params.name`. */
const refusedFields = (error: unknown): Record<string, string> =>
  error instanceof Refusal
    ? Object.fromEntries(
        Object.entries(error.fields).map(([name, messages]) => [name.replace(/^params\.?/, ""), messages.join(" ")]),
      )
    : {};

/** A command of the device's capabilities, with the fields that its parameters need. */
export function CommandForm({ base, commands, isOnline, onSent }: CommandFormProps) {
  const [code, setCode] = useState(commands[0]?.code ?? "");
  const schema = (commands.find((one) => one.code === code)?.params_schema ?? {}) as ParamsSchema;
  const [values, setValues] = useState<FormValues>(() => initialValues(schema));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [failure, setFailure] = useState<unknown>();
  const [notice, setNotice] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const fields = fieldsOf(schema);
  const params = paramsOf(fields, values);

  const choose = (next: string): void => {
    setCode(next);
    setValues(initialValues((commands.find((one) => one.code === next)?.params_schema ?? {}) as ParamsSchema));
    setProblems({});
    setFailure(undefined);
    setNotice("");
    setAsking(false);
  };
  async function send(): Promise<void> {
    setFailure(undefined);
    setNotice("");
    const found = problemsOf(schema, params);
    setProblems(Object.fromEntries(Object.entries(found).map(([name, problem]) => [name, words[problem]()])));
    if (Object.keys(found).length > 0) return;
    if (drastic.has(code) && !isAsking) return setAsking(true);
    setAsking(false);
    setBusy(true);
    try {
      onSent(await post<Command>(base, { command_type: code, params }));
      setNotice(isOnline ? texts("sent") : texts("offline"));
    } catch (error) {
      const refused = refusedFields(error);
      setProblems(refused);
      if (!fields.some(({ name }) => refused[name] !== undefined)) setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Choice
        label={texts("command")}
        value={code}
        onChange={choose}
        options={commands.map((one) => [one.code, wordFor(one.code, one.label)] as const)}
      />
      <ParamsFields
        fields={fields}
        values={values}
        problems={problems}
        required={requiredNow(schema, params)}
        onChange={setValues}
      />
      {isAsking && (
        <p class="mark warn" role="alert">
          {texts("confirm")}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} />}
      <div class="row">
        <button type="submit" class={isAsking ? "danger" : "primary"} disabled={isBusy}>
          {texts("send")}
        </button>
        {isAsking && (
          <button type="button" onClick={() => setAsking(false)}>
            {common("cancel")}
          </button>
        )}
      </div>
      <p class="notice" role="status">
        {notice}
      </p>
    </form>
  );
}
