import { useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { DeviceCapabilityChoice } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { useSubmit } from "../state/submit.ts";
import { capabilityName } from "../texts/capabilities.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { Choice } from "./field.tsx";
import { Failure, Loading } from "./states.tsx";

const kinds = ["command", "telemetry", "messaging", "event", "feature"] as const;
type Answer = "model" | "yes" | "no";

/** Opened on demand: what a device can do, for the one that differs from its model. */
export function CapabilityOverrides({ uid }: { uid: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts("capabilities")}</summary>
      {isOpen && <Choices uid={uid} />}
    </details>
  );
}

function Choices({ uid }: { uid: string }) {
  const path = `/console/api/devices/${uid}/capabilities/`;
  const choices = useLoaded(path, () => get<DeviceCapabilityChoice[]>(path));
  const submission = useSubmit();
  if (choices.kind === "loading") return <Loading />;
  if (choices.kind === "failed") return <Failure error={choices.error} onRetry={choices.reload} />;
  const choose = (code: string, answer: Answer): void =>
    void submission.run(async () => {
      const supported = answer === "model" ? null : answer === "yes";
      choices.set(await post<DeviceCapabilityChoice[]>(path, { code, supported }));
    });
  return (
    <>
      <p class="hint">{texts("capabilitiesHint")}</p>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {kinds.map((kind) => (
        <fieldset key={kind}>
          <legend>{texts(kind)}</legend>
          <div class="columns">
            {choices.value
              .filter((one) => one.kind === kind)
              .map(({ code, label, supported, overridden, supported_by_model }) => (
                <Choice<Answer>
                  key={code}
                  label={capabilityName({ code, kind, label })}
                  disabled={submission.isBusy}
                  value={overridden ? (supported ? "yes" : "no") : "model"}
                  onChange={(answer) => choose(code, answer)}
                  options={[
                    ["model", texts(supported_by_model ? "asModelYes" : "asModelNo")],
                    ["yes", texts("yes")],
                    ["no", texts("no")],
                  ]}
                />
              ))}
          </div>
        </fieldset>
      ))}
    </>
  );
}
