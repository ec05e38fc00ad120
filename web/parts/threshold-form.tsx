import { useState } from "preact/hooks";
import { metricKeys } from "../../src/codecs/metric-keys.ts";
import { patch, post, remove } from "../api/client.ts";
import type { AlertThreshold } from "../api/types.ts";
import { devices } from "../state/fleet.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { metricLabel, metricName } from "../texts/metrics.ts";
import { thresholdTexts as texts } from "../texts/thresholds.ts";
import { DeleteButton } from "./delete-button.tsx";
import { Check, Choice, Field } from "./field.tsx";
import { Picker } from "./picker.tsx";
import { findDevices, findPeople } from "./picker-sources.ts";
import { Failure } from "./states.tsx";

interface ThresholdFormProps {
  /** Undefined: a new one. */
  threshold: AlertThreshold | undefined;
  /** Of people that thresholds are for. */
  names: ReadonlyMap<string, string>;
  onDone(): void;
  onCancel(): void;
}

const scopes = ["Organization", "Device", "User"] as const;
const severities = ["Info", "Warning", "Critical"] as const;
const modes = ["Replace", "Merge", "Disable"] as const;
const shownFields = ["user", "device", "low", "high", "min_duration_seconds", "clear_margin", "cooldown_seconds"];

const textOf = (value: number | null | undefined): string => (value == null ? "" : String(value));
const numberOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

/** A threshold of one metric: for whom, from which values on, and how it goes together with wider rules. */
export function ThresholdForm({ threshold, names, onDone, onCancel }: ThresholdFormProps) {
  const submission = useSubmit(shownFields);
  const [problem, setProblem] = useState("");
  const [fields, setFields] = useState({
    scope: threshold?.scope ?? "Organization",
    metric: threshold?.metric_key ?? "hr",
    low: textOf(threshold?.low),
    high: textOf(threshold?.high),
    severity: threshold?.severity ?? "Warning",
    mode: threshold?.override_mode ?? "Replace",
    isActive: threshold?.is_active ?? true,
    minDuration: textOf(threshold?.min_duration_seconds ?? 0),
    clearMargin: textOf(threshold?.clear_margin ?? 0),
    cooldown: textOf(threshold?.cooldown_seconds ?? 300),
    device: threshold?.device ?? undefined,
    person: threshold?.user ?? undefined,
  });
  const change = (changed: Partial<typeof fields>): void => setFields({ ...fields, ...changed });

  async function save(): Promise<void> {
    const body = {
      scope: fields.scope,
      user: fields.scope === "User" ? (fields.person ?? null) : null,
      device: fields.scope === "Device" ? (fields.device ?? null) : null,
      metric_key: fields.metric,
      low: numberOf(fields.low),
      high: numberOf(fields.high),
      severity: fields.severity,
      override_mode: fields.mode,
      is_active: fields.isActive,
      min_duration_seconds: numberOf(fields.minDuration) ?? 0,
      clear_margin: numberOf(fields.clearMargin) ?? 0,
      cooldown_seconds: numberOf(fields.cooldown) ?? 0,
    };
    if (threshold) await patch(`/api/v1/alert-thresholds/${threshold.id}/`, body);
    else await post("/api/v1/alert-thresholds/", body);
    onDone();
  }
  const title = threshold ? texts("editThreshold", { name: metricName(threshold.metric_key) }) : texts("new");
  return (
    <form
      class="card"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        const isBounded = fields.low !== "" || fields.high !== "";
        setProblem(isBounded ? "" : texts("needsBound"));
        if (isBounded) void submission.run(save);
      }}
    >
      <h2>{title}</h2>
      <div class="columns">
        <Choice
          label={texts("metric")}
          value={fields.metric}
          onChange={(metric) => change({ metric })}
          options={metricKeys.map((key) => [key, metricLabel(key)] as const)}
        />
        <Field
          label={texts("low")}
          type="number"
          step="any"
          value={fields.low}
          onInput={(low) => change({ low })}
          problem={submission.problem("low")}
        />
        <Field
          label={texts("high")}
          type="number"
          step="any"
          value={fields.high}
          onInput={(high) => change({ high })}
          problem={submission.problem("high")}
        />
        <Choice
          label={texts("severity")}
          value={fields.severity}
          onChange={(severity) => change({ severity })}
          options={severities.map((one) => [one, texts(one)] as const)}
        />
        <Choice
          label={texts("scope")}
          value={fields.scope}
          onChange={(scope) => change({ scope })}
          options={scopes.map((one) => [one, texts(one)] as const)}
        />
        <Choice
          label={texts("mode")}
          hint={texts("modeHint")}
          value={fields.mode}
          onChange={(mode) => change({ mode })}
          options={modes.map((one) => [one, texts(one)] as const)}
        />
      </div>
      {fields.scope === "Device" && (
        <Picker
          label={texts("device")}
          isSingle
          find={findDevices}
          textOf={(uid) => devices.get().get(uid)?.name || undefined}
          chosen={fields.device ? [fields.device] : []}
          onChange={([device]) => change({ device })}
          problem={submission.problem("device")}
        />
      )}
      {fields.scope === "User" && (
        <Picker
          label={texts("person")}
          isSingle
          find={findPeople}
          textOf={(id) => names.get(id)}
          chosen={fields.person ? [fields.person] : []}
          onChange={([person]) => change({ person })}
          problem={submission.problem("user")}
        />
      )}
      <details>
        <summary>{texts("fine")}</summary>
        <div class="columns">
          <Field
            label={texts("minDuration")}
            type="number"
            min={0}
            max={86_400}
            value={fields.minDuration}
            onInput={(minDuration) => change({ minDuration })}
            problem={submission.problem("min_duration_seconds")}
          />
          <Field
            label={texts("clearMargin")}
            type="number"
            min={0}
            step="any"
            value={fields.clearMargin}
            onInput={(clearMargin) => change({ clearMargin })}
            problem={submission.problem("clear_margin")}
          />
          <Field
            label={texts("cooldown")}
            type="number"
            min={0}
            max={86_400}
            value={fields.cooldown}
            onInput={(cooldown) => change({ cooldown })}
            problem={submission.problem("cooldown_seconds")}
          />
        </div>
      </details>
      <Check label={texts("active")} checked={fields.isActive} onChange={(isActive) => change({ isActive })} />
      <p class="problem" role="alert">
        {problem}
      </p>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {common("save")}
        </button>
        <button type="button" onClick={onCancel}>
          {common("cancel")}
        </button>
        {threshold && (
          <span class="end">
            <DeleteButton
              disabled={submission.isBusy}
              onDelete={() =>
                void submission.run(() => remove(`/api/v1/alert-thresholds/${threshold.id}/`).then(onDone))
              }
            />
          </span>
        )}
      </div>
    </form>
  );
}
