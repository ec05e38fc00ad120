import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { Integration, NewSecrets } from "../api/types.ts";
import { AdminPage } from "../parts/admin-page.tsx";
import { newDraft } from "../parts/integration-draft.ts";
import { IntegrationForm } from "../parts/integration-form.tsx";
import { IntegrationSecrets } from "../parts/integration-secrets.tsx";
import { Link } from "../parts/link.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { common } from "../texts/common.ts";
import { showDate } from "../texts/format.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";

const path = "/console/api/integrations/";

/** The programs that act for the organization. */
export function IntegrationsPage() {
  const [isAdding, setAdding] = useState(false);
  const [secrets, setSecrets] = useState<NewSecrets>();
  const [round, setRound] = useState(0);
  return (
    <AdminPage title={common("integrations")}>
      {secrets && <IntegrationSecrets secrets={secrets} onClose={() => setSecrets(undefined)} />}
      {isAdding ? (
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
      ) : (
        <p>
          <button type="button" onClick={() => setAdding(true)}>
            {texts("new")}
          </button>
        </p>
      )}
      <PagedList<Integration> key={round} path={`${path}?page_size=100`} empty={texts("none")}>
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{common("name")}</th>
                <th scope="col">{common("status")}</th>
                <th scope="col">{texts("webhookUrl")}</th>
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
