import { useState } from "preact/hooks";
import type { FailedJob, WebhookState } from "../api/types.ts";
import { showNumber, showSpan, showTime } from "../texts/format.ts";
import { operatorWorkTexts as texts } from "../texts/operator-work.ts";
import { Check } from "./field.tsx";
import { OperatorDeadLetters } from "./operator-dead-letters.tsx";
import { PagedList } from "./paged-list.tsx";

const root = "/console/api/operator/";

/** What did not arrive at partners and people. */
export function OperatorDeliveries() {
  return (
    <>
      <Webhooks />
      <section aria-labelledby="jobs">
        <h2 id="jobs">{texts("failedJobs")}</h2>
        <PagedList<FailedJob> path={`${root}failed-jobs/?page_size=50`} empty={texts("noFailedJobs")}>
          {(rows) => (
            <table class="stack">
              <thead>
                <tr>
                  <th scope="col">{texts("job")}</th>
                  <th scope="col">{texts("organization")}</th>
                  <th scope="col">{texts("attempts")}</th>
                  <th scope="col">{texts("reason")}</th>
                  <th scope="col">{texts("when")}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, kind, subject, organization, attempts, error, failed_at }) => (
                  <tr key={id}>
                    <td>
                      {texts(kind)}
                      {subject !== null && (
                        <>
                          <br />
                          <small>{subject}</small>
                        </>
                      )}
                    </td>
                    <td data-label={texts("organization")}>{organization}</td>
                    <td data-label={texts("attempts")}>{attempts}</td>
                    <td data-label={texts("reason")} class="long">
                      {error ?? "–"}
                    </td>
                    <td data-label={texts("when")}>{showTime(failed_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </PagedList>
      </section>
    </>
  );
}

const counted = (count: number | null): string => (count === null ? texts("many") : showNumber(count, 0));

function Webhooks() {
  const [isAll, setAll] = useState(false);
  const [chosen, setChosen] = useState<WebhookState>();
  const [round, setRound] = useState(0);
  const path = `${root}integrations/?page_size=50${isAll ? "" : "&failing=true"}`;
  return (
    <section aria-labelledby="webhooks">
      <h2 id="webhooks">{texts("webhooks")}</h2>
      <Check label={texts("allWebhooks")} checked={isAll} onChange={setAll} />
      <PagedList<WebhookState> key={round} path={path} empty={texts(isAll ? "noWebhooks" : "noFailing")}>
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{texts("integration")}</th>
                <th scope="col">{texts("organization")}</th>
                <th scope="col">{texts("state")}</th>
                <th scope="col">{texts("lag")}</th>
                <th scope="col">{texts("retrying")}</th>
                <th scope="col">{texts("dead_letters")}</th>
                <th scope="col">{texts("reason")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.id}>
                  <td class="long">
                    <button
                      type="button"
                      class="plain"
                      aria-expanded={chosen?.id === one.id}
                      onClick={() => setChosen(chosen?.id === one.id ? undefined : one)}
                    >
                      {one.name}
                    </button>
                  </td>
                  <td data-label={texts("organization")}>{one.organization}</td>
                  <td data-label={texts("state")}>{texts(one.is_paused ? "hookPaused" : one.status)}</td>
                  <td data-label={texts("lag")}>{one.lag_seconds > 0 ? showSpan(one.lag_seconds) : "–"}</td>
                  <td data-label={texts("retrying")}>{counted(one.retrying)}</td>
                  <td data-label={texts("dead_letters")}>
                    <span class={one.dead_letters === 0 ? undefined : "bad"}>{counted(one.dead_letters)}</span>
                  </td>
                  <td data-label={texts("reason")} class="long">
                    {one.last_error ?? "–"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
      {chosen && <OperatorDeadLetters key={chosen.id} id={chosen.id} onRedriven={() => setRound(round + 1)} />}
    </section>
  );
}
