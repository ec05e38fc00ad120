import { useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { EventAttempt, LoggedEvent } from "../api/types.ts";
import { useRefreshed } from "../state/refreshed.ts";
import { usePath } from "../state/router.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deliveryTexts } from "../texts/deliveries.ts";
import { showMoment, showNumber } from "../texts/format.ts";
import { logTexts as texts } from "../texts/outbound-log.ts";
import { Link } from "./link.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

/** One event of the log: what was sent, what the receiver said, and the request to try by hand. */
export function LoggedEventView({ path, eventId }: { path: string; eventId: string }) {
  const page = usePath();
  const eventPath = `${path}events/${encodeURIComponent(eventId)}/`;
  const loaded = useRefreshed(eventPath, () => get<LoggedEvent>(eventPath), 3000);
  return (
    <>
      <p>
        <Link to={page}>← {texts("back")}</Link>
      </p>
      {loaded.kind === "loading" && <Loading />}
      {loaded.kind === "failed" && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.kind === "ready" && <Shown event={loaded.value} eventPath={eventPath} onSent={loaded.reload} />}
    </>
  );
}

function Shown({ event, eventPath, onSent }: { event: LoggedEvent; eventPath: string; onSent(): void }) {
  const { id, type, device_uid, occurred_at, withheld, push, body, request, attempts } = event;
  return (
    <>
      <section class="card" aria-labelledby="event">
        <h2 id="event">{type}</h2>
        <dl class="rule-facts">
          <div>
            <dt>{deliveryTexts("eventId")}</dt>
            <dd>
              <code class="long">{id}</code>
            </dd>
          </div>
          <div>
            <dt>{deliveryTexts("device")}</dt>
            <dd>
              <Link to={`/console/devices/${device_uid}`}>{device_uid}</Link>
            </dd>
          </div>
          <div>
            <dt>{deliveryTexts("when")}</dt>
            <dd>{showMoment(occurred_at)}</dd>
          </div>
          <div>
            <dt>{texts("replay")}</dt>
            <dd class={withheld === null ? "" : "withheld"}>{texts(withheld ?? "gets")}</dd>
          </div>
          <div>
            <dt>{texts("webhook")}</dt>
            <dd class={push === "dead_letter" ? "bad" : ""}>{texts(`push_${push}`)}</dd>
          </div>
        </dl>
        <Resend eventPath={eventPath} isOffered={request !== null} onSent={onSent} />
      </section>
      <section class="card" aria-labelledby="attempts">
        <h2 id="attempts">{deliveryTexts("attempts")}</h2>
        {attempts.length === 0 ? <Empty>{texts("notSent")}</Empty> : <Attempts attempts={attempts} />}
      </section>
      <section class="card" aria-labelledby="body">
        <h2 id="body">{texts("body")}</h2>
        <pre class="code">{pretty(body)}</pre>
      </section>
      <section class="card" aria-labelledby="request">
        <h2 id="request">{texts("request")}</h2>
        {request === null ? <p class="hint">{texts("noRequest")}</p> : <Request event={event} eventPath={eventPath} />}
      </section>
    </>
  );
}

/** For reading; the request below has the bytes as they are sent. */
const pretty = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);

function Resend({ eventPath, isOffered, onSent }: { eventPath: string; isOffered: boolean; onSent(): void }) {
  const [notice, setNotice] = useState("");
  const { isBusy, failure, run } = useSubmit();
  const send = (): void =>
    void run(async () => {
      setNotice("");
      const { resent } = await post<{ resent: number }>(`${eventPath}resend/`);
      setNotice(texts(resent > 0 ? "resent" : "alreadyQueued"));
      onSent();
    });
  return (
    <div class="actions">
      {isOffered && (
        <button type="button" disabled={isBusy} onClick={send}>
          {texts("resend")}
        </button>
      )}
      <span class="notice" role="status">
        {notice}
      </span>
      {failure !== undefined && <Failure error={failure} />}
    </div>
  );
}

function Request({ event, eventPath }: { event: LoggedEvent; eventPath: string }) {
  const [fresh, setFresh] = useState<LoggedEvent>();
  const [notice, setNotice] = useState("");
  const { isBusy, failure, run } = useSubmit();
  const request = fresh?.request ?? event.request;
  if (request === null) return null;
  const copy = (): void =>
    void run(async () => {
      // Asked for again, so that the signature is of now.
      const now = await get<LoggedEvent>(eventPath);
      setFresh(now);
      const isCopied = await navigator.clipboard.writeText(now.request?.curl ?? "").then(
        () => true,
        () => false,
      );
      setNotice(texts(isCopied ? "copied" : "copyFailed"));
    });
  return (
    <>
      <p class="hint">{texts("requestHint")}</p>
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={copy}>
          {texts("copy")}
        </button>
        <span class="notice" role="status">
          {notice}
        </span>
      </div>
      {failure !== undefined && <Failure error={failure} />}
      <h3>{texts("headers")}</h3>
      <dl class="rule-facts">
        {Object.entries(request.headers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code class="long">{value}</code>
            </dd>
          </div>
        ))}
      </dl>
      <h3>{texts("curl")}</h3>
      <pre class="code">{request.curl}</pre>
    </>
  );
}

const Attempts = ({ attempts }: { attempts: readonly EventAttempt[] }) => (
  <table class="stack">
    <thead>
      <tr>
        <th scope="col">{deliveryTexts("attempt")}</th>
        <th scope="col">{common("status")}</th>
        <th scope="col">{deliveryTexts("duration")}</th>
        <th scope="col">{deliveryTexts("answer")}</th>
        <th scope="col">{deliveryTexts("when")}</th>
      </tr>
    </thead>
    <tbody>
      {attempts.map(({ attempt, status, status_code, duration_ms, error, answer, at }) => (
        <tr key={`${attempt} ${at}`}>
          <td>{attempt}</td>
          <td data-label={common("status")} class={status === "failed" ? "bad" : ""}>
            {deliveryTexts(status)} · {error ?? status_code ?? "–"}
          </td>
          <td data-label={deliveryTexts("duration")}>{showNumber(duration_ms, 0)} ms</td>
          <td data-label={deliveryTexts("answer")} class="long">
            {answer === null ? <small>{texts("noAnswer")}</small> : <code class="answer">{answer}</code>}
          </td>
          <td data-label={deliveryTexts("when")}>{showMoment(at)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
