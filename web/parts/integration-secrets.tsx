import type { NewSecrets } from "../api/types.ts";
import { showTime } from "../texts/format.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";

/** Secrets that were just made. They stay until the reader says that they are copied, for nobody can show them again. */
export function IntegrationSecrets({ secrets, onClose }: { secrets: NewSecrets; onClose(): void }) {
  const { client_id, client_secret, webhook_secret, previous_valid_until } = secrets;
  const shown = [
    [texts("clientId"), client_secret ? client_id : undefined],
    [texts("clientSecret"), client_secret],
    [texts("webhookSecret"), webhook_secret],
  ] as const;
  return (
    <section class="card" role="alert">
      <p>
        <strong>{texts("secretsOnce")}</strong>
      </p>
      <dl class="rule-facts">
        {shown.map(
          ([label, value]) =>
            value && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <code class="secret">{value}</code>
                </dd>
              </div>
            ),
        )}
      </dl>
      {previous_valid_until && <p>{texts("previousUntil", { time: showTime(previous_valid_until) })}</p>}
      <button type="button" onClick={onClose}>
        {texts("seen")}
      </button>
    </section>
  );
}
