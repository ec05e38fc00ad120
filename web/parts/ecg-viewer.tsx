import { useMemo, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { EcgRecording, EcgWaveform } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { ecgTexts as texts } from "../texts/ecg.ts";
import { showNumber } from "../texts/format.ts";
import { leadsOf, measure } from "./ecg-drawing.ts";
import { type Calipers, EcgPaper } from "./ecg-paper.tsx";
import { Check, Choice } from "./field.tsx";
import { Failure, Loading } from "./states.tsx";

type Size = "3" | "4" | "6";
const forms = ["csv", "fhir", "json"] as const;
const endings = { csv: "csv", fhir: "fhir.json", json: "json" } as const;

/** One recording with its leads, calipers over all of them, and the files of it. */
export function EcgViewer({ recording }: { recording: EcgRecording }) {
  const path = `/api/v1/devices/${recording.device_uid}/ecg/${recording.id}/waveform/`;
  const waveform = useLoaded(path, () => get<EcgWaveform>(path));
  const [size, setSize] = useState<Size>("4");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [calipers, setCalipers] = useState<Calipers>([1, 1.8]);
  const leads = useMemo(() => (waveform.kind === "ready" ? leadsOf(waveform.value) : []), [waveform]);
  if (waveform.kind === "loading") return <Loading />;
  if (waveform.kind === "failed") return <Failure error={waveform.error} onRetry={waveform.reload} />;
  const rateHz = waveform.value.sampling_rate_hz;
  const shown = leads.filter(({ name }) => !hidden.has(name));
  const switchLead = (name: string, isOn: boolean): void => {
    const next = new Set(hidden);
    if (isOn) next.delete(name);
    else next.add(name);
    setHidden(next);
  };
  const measured = measure(calipers, shown[0]?.millivolts ?? [], rateHz);
  return (
    <div class="ecg">
      <div class="row">
        <strong>{texts("scale")}</strong>
        <Choice<Size>
          label={texts("size")}
          value={size}
          onChange={setSize}
          options={[
            ["3", texts("small")],
            ["4", texts("medium")],
            ["6", texts("large")],
          ]}
        />
        {leads.length > 1 &&
          leads.map(({ name }) => (
            <Check
              key={name}
              label={texts("lead", { name })}
              checked={!hidden.has(name)}
              onChange={(isOn) => switchLead(name, isOn)}
            />
          ))}
      </div>
      <p>
        <output>
          <strong>{texts("between", { ms: showNumber(measured.milliseconds, 0) })}</strong>
          {measured.perMinute !== undefined && ` · ${texts("rate", { rate: showNumber(measured.perMinute, 0) })}`}
          {measured.millivolts !== undefined && ` · ${texts("amplitude", { mv: showNumber(measured.millivolts, 2) })}`}
        </output>
      </p>
      {shown.map((lead) => (
        <section key={lead.name} class="ecg-strip" aria-label={texts("lead", { name: lead.name })}>
          <p class="lead-name">{texts("lead", { name: lead.name })}</p>
          <div class="ecg-scroll">
            <EcgPaper
              lead={lead}
              rateHz={rateHz}
              pixelsPerMm={Number(size)}
              calipers={calipers}
              onCalipers={setCalipers}
            />
          </div>
        </section>
      ))}
      <p class="hint">
        {texts("caliperHint")} {texts("notDiagnosis")}
      </p>
      <p>
        {texts("download")}:{" "}
        {forms.map((form) => (
          <a
            key={form}
            class="download"
            href={`${path}?format=${form}`}
            download={`ecg-${recording.id}.${endings[form]}`}
          >
            {form.toUpperCase()}
          </a>
        ))}
      </p>
    </div>
  );
}
