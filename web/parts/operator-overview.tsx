import type { ComponentChildren } from "preact";
import { get } from "../api/client.ts";
import type { Page, QueueState, ServiceGateway, ServiceHealth, ServiceProcess } from "../api/types.ts";
import type { Loaded } from "../state/loaded.ts";
import { useRefreshed } from "../state/refreshed.ts";
import { showBytes, showNumber, showSpan, showTime } from "../texts/format.ts";
import { operatorTexts as texts } from "../texts/operator.ts";
import { OperatorHealth } from "./operator-health.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

const root = "/console/api/operator/";
const everyMs = 10_000;

/** What runs, what is connected and what waits; drawn anew by itself. */
export function OperatorOverview() {
  const processes = useRefreshed(`${root}processes/`, () => get<Page<ServiceProcess>>(`${root}processes/`), everyMs);
  const gateways = useRefreshed(`${root}gateways/`, () => get<Page<ServiceGateway>>(`${root}gateways/`), everyMs);
  const queues = useRefreshed(`${root}queues/`, () => get<Page<QueueState>>(`${root}queues/`), everyMs);
  const health = useRefreshed(`${root}doctor/`, () => get<ServiceHealth>(`${root}doctor/`), 60_000);
  return (
    <>
      <OperatorHealth health={health} />
      <Section title={texts("processes")} id="processes" list={processes}>
        {(rows) => <Processes rows={rows} />}
      </Section>
      <Section title={texts("gateways")} id="gateways" list={gateways}>
        {(rows) => <Gateways rows={rows} />}
      </Section>
      <Section title={texts("queues")} id="queues" list={queues}>
        {(rows) => <Queues rows={rows} />}
      </Section>
    </>
  );
}

interface SectionProps<T> {
  title: string;
  id: string;
  list: Loaded<Page<T>>;
  children: (rows: readonly T[]) => ComponentChildren;
}

function Section<T>({ title, id, list, children }: SectionProps<T>) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {list.kind === "loading" && <Loading />}
      {list.kind === "failed" && <Failure error={list.error} onRetry={list.reload} />}
      {list.kind === "ready" && (list.value.results.length === 0 ? <Empty /> : children(list.value.results))}
    </section>
  );
}

const lifeOf = (isAlive: boolean) => (
  <span class={isAlive ? undefined : "bad"}>{texts(isAlive ? "alive" : "notSeen")}</span>
);

function Processes({ rows }: { rows: readonly ServiceProcess[] }) {
  return (
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">{texts("process")}</th>
          <th scope="col">{texts("state")}</th>
          <th scope="col">{texts("roles")}</th>
          <th scope="col">{texts("leases")}</th>
          <th scope="col">{texts("memory")}</th>
          <th scope="col">{texts("started")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, host, pid, version, roles, is_alive, leases, figures, started_at, seen_at }) => (
          <tr key={id}>
            <td class="long">
              {host} · {pid}
              <br />
              <small>{version}</small>
            </td>
            <td data-label={texts("state")}>
              {lifeOf(is_alive)}
              {!is_alive && (
                <>
                  <br />
                  <small>{texts("lastSeen", { time: showTime(seen_at) })}</small>
                </>
              )}
            </td>
            <td data-label={texts("roles")}>{roles.join(", ")}</td>
            <td data-label={texts("leases")}>
              {leases
                .filter(({ kind }) => kind !== "process")
                .map(({ kind, count }) => texts(kind === "gateway" ? "gatewayLease" : "webhookLease", { count }))
                .join(", ") || "–"}
            </td>
            <td data-label={texts("memory")}>{showBytes(figures.memory_bytes)}</td>
            <td data-label={texts("started")}>{showTime(started_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Gateways({ rows }: { rows: readonly ServiceGateway[] }) {
  return (
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">{texts("process")}</th>
          <th scope="col">{texts("state")}</th>
          <th scope="col">{texts("connections")}</th>
          <th scope="col">{texts("byProtocol")}</th>
          <th scope="col">{texts("rate")}</th>
          <th scope="col">{texts("ingest")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, host, pid, is_alive, figures, ingest, connections }) => (
          <tr key={id}>
            <td class="long">
              {host} · {pid}
            </td>
            <td data-label={texts("state")}>
              {figures?.is_paused ? <span class="bad">{texts("paused")}</span> : lifeOf(is_alive)}
            </td>
            <td data-label={texts("connections")}>
              {showNumber(figures?.connections ?? 0, 0)}
              <br />
              <small>{texts("unlogged", { count: showNumber(figures?.unlogged ?? 0, 0) })}</small>
            </td>
            <td data-label={texts("byProtocol")}>
              {connections
                .map(({ protocol, transport, count }) => `${protocol}/${transport} ${showNumber(count, 0)}`)
                .join(", ") || "–"}
            </td>
            <td data-label={texts("rate")}>
              {texts("perSecond", { rate: showNumber(ingest?.packets_per_second ?? 0) })}
              <br />
              <small>
                {Object.entries(figures?.frames_per_second ?? {})
                  .map(([protocol, rate]) => `${protocol} ${showNumber(rate)}`)
                  .join(", ")}
              </small>
            </td>
            <td data-label={texts("ingest")}>
              {texts("queued", { count: showNumber(ingest?.queue_packets ?? 0, 0) })}
              {ingest?.commit_ms != null && (
                <>
                  <br />
                  <small>{texts("commit", { ms: showNumber(ingest.commit_ms) })}</small>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Later than this, somebody should look. */
const lateSeconds = 60;

function Queues({ rows }: { rows: readonly QueueState[] }) {
  return (
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">{texts("queue")}</th>
          <th scope="col">{texts("waiting")}</th>
          <th scope="col">{texts("late")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ queue, waiting, late_seconds }) => (
          <tr key={queue}>
            <td>{texts(queue === "deliveries" ? "retries" : queue)}</td>
            <td data-label={texts("waiting")}>{waiting === null ? texts("many") : showNumber(waiting, 0)}</td>
            <td data-label={texts("late")}>
              <span class={(late_seconds ?? 0) > lateSeconds ? "bad" : undefined}>
                {late_seconds ? showSpan(late_seconds) : "–"}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
