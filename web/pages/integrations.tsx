import { useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { DeliveryHealth, Integration, NewSecrets } from "../api/types.ts";
import { AdminPage } from "../parts/admin-page.tsx";
import { countText, percentText } from "../parts/delivery-health.tsx";
import { newDraft } from "../parts/integration-draft.ts";
import { IntegrationForm } from "../parts/integration-form.tsx";
import { IntegrationSecrets } from "../parts/integration-secrets.tsx";
import { Link } from "../parts/link.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { useRefreshed } from "../state/refreshed.ts";
import { common } from "../texts/common.ts";
import { healthTexts } from "../texts/delivery-health.ts";
import { showDate, showTime } from "../texts/format.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";

const path = "/console/api/integrations/";
const healthPath = `${path}health/`;

/** The programs that act for the organization. */
export function IntegrationsPage() {
  const [isAdding, setAdding] = useState(false);
  const [secrets, setSecrets] = useState<NewSecrets>();
  const [round, setRound] = useState(0);
  const loaded = useRefreshed(healthPath, () => get<{ results: DeliveryHealth[] }>(healthPath), 10_000);
  const health = new Map(
    loaded.kind === "ready" ? loaded.value.results.map((one) => [one.integration_id, one] as const) : [],
  );
  return (
    <AdminPage
      title={common("integrations")}
      action={
        !isAdding && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {texts("new")}
          </button>
        )
      }
    >
      {secrets && <IntegrationSecrets secrets={secrets} onClose={() => setSecrets(undefined)} />}
      {isAdding && (
        <section class="card" aria-labelledby="new">
          <h2 id="new">{texts("new")}</h2>
          <IntegrationForm
            initial={newDraft}
            onCancel={() => setAdding(false)}
            send={async (body) => {
              setSecrets(await post<NewSecrets>(path, body));
              setAdding(false);
              setRound(round + 1);
            }}
          />
        </section>
      )}
      <PagedList<Integration> key={round} path={`${path}?page_size=100`} empty={texts("none")}>
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{common("name")}</th>
                <th scope="col">{common("status")}</th>
                <th scope="col">{texts("webhookUrl")}</th>
                <th scope="col">{healthTexts("success")}</th>
                <th scope="col">{healthTexts("waiting")}</th>
                <th scope="col">{texts("createdAt")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, name, client_id, status, webhook_url, webhook_paused, created_at }) => (
                <tr key={id}>
                  <td>
                    <Link to={`/console/integrations/${id}`}>{name}</Link>
                    <br />
                    <small class="long">{client_id}</small>
                  </td>
                  <td data-label={common("status")}>
                    {texts(status)}
                    {webhook_paused && ` · ${texts("paused")}`}
                  </td>
                  <td class="long" data-label={texts("webhookUrl")}>
                    {webhook_url ?? texts("noWebhook")}
                  </td>
                  <HealthCells health={health.get(id)} hasWebhook={webhook_url !== null} />
                  <td data-label={texts("createdAt")}>{showDate(created_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </AdminPage>
  );
}

/** Empty until it is known; without a webhook there is nothing to know. */
function HealthCells({ health, hasWebhook }: { health: DeliveryHealth | undefined; hasWebhook: boolean }) {
  const isKnown = health !== undefined && hasWebhook;
  return (
    <>
      <td data-label={healthTexts("success")}>
        {isKnown && health.success_share !== null ? percentText(health.success_share) : "–"}
        {isKnown && health.failing_since !== null && (
          <div class="bad">{healthTexts("failing", { time: showTime(health.failing_since) })}</div>
        )}
      </td>
      <td data-label={healthTexts("waiting")}>
        {isKnown ? countText(health.waiting, health) : "–"}
        {isKnown && health.dead_letters > 0 && (
          <div class="bad">
            {healthTexts("dead")}: {countText(health.dead_letters, health)}
          </div>
        )}
      </td>
    </>
  );
}
