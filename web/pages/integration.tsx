import { useState } from "preact/hooks";
import { get, patch } from "../api/client.ts";
import type { Integration, NewSecrets } from "../api/types.ts";
import { AdminPage } from "../parts/admin-page.tsx";
import { DeadLetters } from "../parts/dead-letters.tsx";
import { DeliveryAttempts } from "../parts/delivery-attempts.tsx";
import { DeliveryHealthCard } from "../parts/delivery-health.tsx";
import { EventExplorer } from "../parts/event-explorer.tsx";
import { IntegrationAccessCard } from "../parts/integration-access.tsx";
import { IntegrationActions } from "../parts/integration-actions.tsx";
import { draftOf } from "../parts/integration-draft.ts";
import { IntegrationForm } from "../parts/integration-form.tsx";
import { IntegrationSecrets } from "../parts/integration-secrets.tsx";
import { Link } from "../parts/link.tsx";
import { LoggedEventView } from "../parts/logged-event.tsx";
import { isMissing } from "../parts/missing.ts";
import { Failure, Loading } from "../parts/states.tsx";
import { TestEvent } from "../parts/test-event.tsx";
import { useLoaded } from "../state/loaded.ts";
import { usePath, useQuery } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { common } from "../texts/common.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";
import { logTexts } from "../texts/outbound-log.ts";
import { NotFoundPage } from "./not-found.tsx";

/** One integration: what it may do, whether its events arrive, and what to do about those that do not. */
export const IntegrationPage = ({ id }: { id: string }) =>
  hasRole("ADMIN") ? <Shown id={id} /> : <AdminPage title={common("integrations")}>{null}</AdminPage>;

function Shown({ id }: { id: string }) {
  const path = `/console/api/integrations/${encodeURIComponent(id)}/`;
  const loaded = useLoaded(path, () => get<Integration>(path));
  const [secrets, setSecrets] = useState<NewSecrets>();
  const query = useQuery();
  const page = usePath();
  if (loaded.kind === "failed" && isMissing(loaded.error)) return <NotFoundPage />;
  if (loaded.kind !== "ready") {
    return (
      <AdminPage title={common("integrations")}>
        {loaded.kind === "loading" ? <Loading /> : <Failure error={loaded.error} onRetry={loaded.reload} />}
      </AdminPage>
    );
  }
  const integration = loaded.value;
  const { name, client_id, status, webhook_paused, webhook_url } = integration;
  const eventId = query.get("event");
  const isLog = query.get("view") === "events";
  return (
    <AdminPage title={name}>
      <p>
        {texts(status)}
        {webhook_paused && ` · ${texts("paused")}`} · <code class="long">{client_id}</code>
      </p>
      {secrets && <IntegrationSecrets secrets={secrets} onClose={() => setSecrets(undefined)} />}
      {eventId !== null ? (
        <LoggedEventView key={eventId} path={path} eventId={eventId} />
      ) : (
        <>
          <nav class="views" aria-label={logTexts("views")}>
            <Link to={page} isCurrent={!isLog}>
              {logTexts("overview")}
            </Link>
            <Link to={`${page}?view=events`} isCurrent={isLog}>
              {logTexts("events")}
            </Link>
          </nav>
          {isLog ? (
            <EventExplorer path={path} />
          ) : (
            <>
              <DeliveryHealthCard path={path} hasWebhook={webhook_url !== null} />
              <IntegrationActions integration={integration} path={path} onChange={loaded.set} onSecrets={setSecrets} />
              {webhook_url !== null && <TestEvent path={path} integration={integration} />}
              <DeadLetters path={path} />
              <DeliveryAttempts path={path} />
              <IntegrationAccessCard key={secrets ? "rotated" : "kept"} path={path} integration={integration} />
              <section class="card" aria-labelledby="settings">
                <h2 id="settings">{texts("settings")}</h2>
                <IntegrationForm
                  initial={draftOf(integration)}
                  send={async (body) => {
                    const changed = await patch<Integration & NewSecrets>(path, body);
                    loaded.set(changed);
                    if (changed.webhook_secret) setSecrets({ webhook_secret: changed.webhook_secret });
                  }}
                />
              </section>
            </>
          )}
        </>
      )}
    </AdminPage>
  );
}
