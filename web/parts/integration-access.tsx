import { get } from "../api/client.ts";
import type { Integration, IntegrationAccess } from "../api/types.ts";
import { useRefreshed } from "../state/refreshed.ts";
import { healthTexts as texts } from "../texts/delivery-health.ts";
import { showClock, showNumber, showTime } from "../texts/format.ts";
import { integrationTexts } from "../texts/integrations.ts";
import { Failure, Loading } from "./states.tsx";

/** What an integration may use and has used, which of its secrets work, and what it receives. */
export function IntegrationAccessCard({ path, integration }: { path: string; integration: Integration }) {
  const loaded = useRefreshed(`${path}access/`, () => get<IntegrationAccess>(`${path}access/`), 10_000);
  return (
    <section class="card" aria-labelledby="limits">
      <h2 id="limits">{texts("limits")}</h2>
      {loaded.kind === "loading" && <Loading />}
      {loaded.kind === "failed" && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.kind === "ready" && <Facts access={loaded.value} integration={integration} />}
    </section>
  );
}

function Facts({ access, integration }: { access: IntegrationAccess; integration: Integration }) {
  const { webhook_event_types, webhook_device_filter, link_hosts } = integration;
  return (
    <dl class="rule-facts">
      {access.rate_limits.map((limit) => (
        <Limit key={limit.name} limit={limit} />
      ))}
      <Secrets access={access} />
      <div>
        <dt>{integrationTexts("types")}</dt>
        <dd>{webhook_event_types.length === 0 ? texts("allTypes") : webhook_event_types.join(", ")}</dd>
      </div>
      <div>
        <dt>{texts("devices")}</dt>
        <dd>{webhook_device_filter.length === 0 ? texts("allDevices") : webhook_device_filter.join(", ")}</dd>
      </div>
      <div>
        <dt>{texts("hosts")}</dt>
        <dd>{link_hosts.length === 0 ? texts("noHosts") : link_hosts.join(", ")}</dd>
      </div>
    </dl>
  );
}

function Limit({ limit }: { limit: IntegrationAccess["rate_limits"][number] }) {
  const name = texts(limit.name === "per_minute" ? "perMinute" : "perHour");
  const { used, limit: quota, resets_at } = limit;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <meter min={0} max={quota} high={quota * 0.8} value={used} aria-label={name} />{" "}
        {texts("used", { used: showNumber(used, 0), limit: showNumber(quota, 0) })}
        {resets_at !== null && ` · ${texts("resets", { time: showClock(resets_at) })}`}
      </dd>
    </div>
  );
}

function Secrets({ access }: { access: IntegrationAccess }) {
  const [current, ...earlier] = access.client_secrets;
  const { has_webhook_secret, webhook_secret_previous_until: until } = access;
  return (
    <>
      <div>
        <dt>{texts(earlier.length > 0 ? "clientSecrets" : "clientSecret")}</dt>
        <dd>
          {current ? texts("since", { time: showTime(current.created_at) }) : texts("noSecret")}
          {earlier.map(
            ({ valid_until }) =>
              valid_until && (
                <div key={valid_until} class="overlap">
                  {texts("validUntil", { time: showTime(valid_until) })}
                </div>
              ),
          )}
        </dd>
      </div>
      <div>
        <dt>{texts("webhookSecret")}</dt>
        <dd>
          {until === null ? (
            texts(has_webhook_secret ? "oneSecret" : "noSecret")
          ) : (
            <span class="overlap">{texts("signedBoth", { time: showTime(until) })}</span>
          )}
        </dd>
      </div>
    </>
  );
}
