import { post, remove } from "../api/client.ts";
import type { Integration, NewSecrets } from "../api/types.ts";
import { navigate } from "../state/router.ts";
import { useSubmit } from "../state/submit.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";
import { DeleteButton } from "./delete-button.tsx";
import { Failure } from "./states.tsx";

interface IntegrationActionsProps {
  integration: Integration;
  path: string;
  onChange(integration: Integration): void;
  onSecrets(secrets: NewSecrets): void;
}

/** What ends or halts the work of an integration, and new secrets for it. */
export function IntegrationActions({ integration, path, onChange, onSecrets }: IntegrationActionsProps) {
  const { isBusy, failure, run } = useSubmit();
  const { status, webhook_url, webhook_paused } = integration;
  const change = (word: "enable" | "disable" | "pause" | "resume"): void =>
    void run(async () => onChange(await post<Integration>(`${path}${word}/`)));
  const rotate = (word: "rotate-secret" | "rotate-webhook-secret"): void =>
    void run(async () => onSecrets(await post<NewSecrets>(`${path}${word}/`)));
  const pauseWord = webhook_paused ? "resume" : "pause";
  return (
    <section class="card" aria-labelledby="operation">
      <h2 id="operation">{texts("operation")}</h2>
      <div class="actions">
        {webhook_url !== null && (
          <button type="button" disabled={isBusy} onClick={() => change(pauseWord)}>
            {texts(pauseWord)}
          </button>
        )}
        <DeleteButton
          key={`client ${isBusy}`}
          label={texts("rotateClient")}
          question={texts("confirmRotate")}
          disabled={isBusy}
          onDelete={() => rotate("rotate-secret")}
        />
        {webhook_url !== null && (
          <DeleteButton
            key={`webhook ${isBusy}`}
            label={texts("rotateWebhook")}
            question={texts("confirmRotate")}
            disabled={isBusy}
            onDelete={() => rotate("rotate-webhook-secret")}
          />
        )}
        {status === "active" ? (
          <DeleteButton
            label={texts("disable")}
            question={texts("confirmDisable")}
            disabled={isBusy}
            onDelete={() => change("disable")}
          />
        ) : (
          <button type="button" disabled={isBusy} onClick={() => change("enable")}>
            {texts("enable")}
          </button>
        )}
        <DeleteButton
          disabled={isBusy}
          onDelete={() =>
            void run(async () => {
              await remove(path);
              navigate("/console/integrations");
            })
          }
        />
      </div>
      {failure !== undefined && <Failure error={failure} />}
    </section>
  );
}
