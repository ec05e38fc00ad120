import { get } from "../api/client.ts";
import type { DeliveryHealth } from "../api/types.ts";
import { useRefreshed } from "../state/refreshed.ts";
import { usePath } from "../state/router.ts";
import { healthTexts as texts } from "../texts/delivery-health.ts";
import { showAge, showMoment, showNumber, showTime } from "../texts/format.ts";
import { HourBars } from "./hour-bars.tsx";
import { Link } from "./link.tsx";
import { Failure, Loading } from "./states.tsx";

const refreshEveryMs = 5000;

export const percentText = (share: number): string =>
  `${showNumber(share === 1 ? 100 : Math.min(99.9, share * 100), 1)} %`;

/** Counts end somewhere: there may be more. */
export const countText = (count: number, { counted_up_to }: DeliveryHealth): string =>
  count < counted_up_to ? showNumber(count, 0) : texts("more", { count: showNumber(count, 0) });

const milliseconds = (ms: number | null): string => (ms === null ? "–" : `${showNumber(ms, 0)} ms`);

export const sinceText = (seconds: number): string => {
  const nowMs = Date.now();
  return showAge(new Date(nowMs - seconds * 1000).toISOString(), nowMs);
};

/** Whether the events of an integration arrive: over the last day, and now. */
export function DeliveryHealthCard({ path, hasWebhook }: { path: string; hasWebhook: boolean }) {
  const loaded = useRefreshed(`${path}health/`, () => get<DeliveryHealth>(`${path}health/`), refreshEveryMs);
  return (
    <section class="card" aria-labelledby="health">
      <h2 id="health">{texts("health")}</h2>
      {!hasWebhook && <p class="hint">{texts("replayOnly")}</p>}
      {loaded.kind === "loading" && <Loading />}
      {loaded.kind === "failed" && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.kind === "ready" && <Figures health={loaded.value} />}
    </section>
  );
}

function Figures({ health }: { health: DeliveryHealth }) {
  const { success_share, delivered, failed, last_error, failing_since, backlog_seconds } = health;
  const page = usePath();
  return (
    <>
      {failing_since !== null && (
        <p class="trouble" role="alert">
          {texts("failing", { time: showTime(failing_since) })}
        </p>
      )}
      <dl class="figures">
        <div>
          <dt>
            {texts("success")} · {texts("lastDay")}
          </dt>
          <dd>
            <strong>{success_share === null ? "–" : percentText(success_share)}</strong>
            <small>
              {success_share === null
                ? texts("noAttempts")
                : texts("attempts", { delivered: showNumber(delivered, 0), failed: showNumber(failed, 0) })}
            </small>
          </dd>
        </div>
        <div>
          <dt>{texts("latency")}</dt>
          <dd>
            <strong>
              {milliseconds(health.latency_p50_ms)}, {milliseconds(health.latency_p95_ms)}
            </strong>
          </dd>
        </div>
        <div>
          <dt>{texts("waiting")}</dt>
          <dd>
            <strong>{countText(health.waiting, health)}</strong>
            {backlog_seconds !== null && <small>{texts("oldest", { age: sinceText(backlog_seconds) })}</small>}
          </dd>
        </div>
        <div>
          <dt>{texts("dead")}</dt>
          <dd>
            <strong class={health.dead_letters > 0 ? "bad" : ""}>{countText(health.dead_letters, health)}</strong>
          </dd>
        </div>
        <div class="wide">
          <dt>{texts("lastError")}</dt>
          <dd>
            {last_error === null ? (
              texts("noError")
            ) : (
              <>
                <Link to={`${page}?event=${last_error.event_id}`}>{last_error.error}</Link> ·{" "}
                {showMoment(last_error.at)}
              </>
            )}
          </dd>
        </div>
      </dl>
      <HourBars hours={health.hours} />
    </>
  );
}
