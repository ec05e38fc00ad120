import { useEffect, useRef } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Acknowledgement, Device, Event, Page } from "../api/types.ts";
import { useDebounced } from "../state/debounced.ts";
import { listAcknowledgements } from "../state/done.ts";
import { useDevices } from "../state/fleet.ts";
import { useLoaded } from "../state/loaded.ts";
import { usePaged } from "../state/paged.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStreamEvent } from "../state/stream-events.ts";
import { eventKind, eventKinds, alarmTexts as texts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";
import { readerZone, showTime } from "../texts/format.ts";
import { nameOf } from "./alarm-card.tsx";
import { oneOf } from "./device-filter.ts";
import { Choice, Field } from "./field.tsx";
import { historyPath, meantDevices } from "./history-query.ts";
import { Link } from "./link.tsx";
import { Empty, Failure, Loading } from "./states.tsx";
import "../styles/rules.css";

const severities = ["", "critical", "warning", "info"] as const;
const states = ["", "open", "acknowledged"] as const;
/** Many events a second are one reason to read again. */
const reloadAfterMs = 1000;

/** Events of the past, newest first, with what was done about them; it follows the stream. */
export function AlarmHistory() {
  const query = useQuery();
  const filter = {
    severity: oneOf(severities, query.get("severity")),
    state: oneOf(states, query.get("state")),
    kind: oneOf(["", ...eventKinds], query.get("kind")),
    from: query.get("from") ?? "",
    until: query.get("until") ?? "",
    search: query.get("search") ?? "",
  };
  const search = useDebounced(filter.search.trim());
  const path = `/console/api/devices/?page_size=50&search=${encodeURIComponent(search)}`;
  const found = useLoaded(path, async () => (search === "" ? undefined : get<Page<Device>>(path)));
  const meant = found.kind === "ready" && found.value ? meantDevices(found.value, search) : undefined;
  return (
    <section aria-labelledby="history">
      <h2 id="history">{texts("history")}</h2>
      <search class="filters">
        <Choice
          label={texts("severity")}
          value={filter.severity}
          onChange={(severity) => setQuery({ severity })}
          options={severities.map((one) => [one, texts(one === "" ? "all" : one)] as const)}
        />
        <Choice
          label={texts("state")}
          value={filter.state}
          onChange={(state) => setQuery({ state })}
          options={states.map((one) => [one, texts(one === "" ? "all" : one)] as const)}
        />
        <Choice
          label={texts("kind")}
          value={filter.kind}
          onChange={(kind) => setQuery({ kind })}
          options={[["", texts("all")], ...eventKinds.map((kind) => [kind, eventKind(kind)] as const)]}
        />
        <Field
          label={texts("device")}
          type="search"
          value={filter.search}
          onInput={(search) => setQuery({ search })}
          {...(meant && meant.count > 1 ? { hint: texts("many", { count: meant.count }) } : {})}
        />
        <Field label={texts("dateFrom")} type="date" value={filter.from} onInput={(from) => setQuery({ from })} />
        <Field label={texts("dateUntil")} type="date" value={filter.until} onInput={(until) => setQuery({ until })} />
      </search>
      {found.kind === "loading" && <Loading />}
      {found.kind === "failed" && <Failure error={found.error} onRetry={found.reload} />}
      {meant?.count === 0 && <Empty />}
      {found.kind === "ready" && meant?.count !== 0 && (
        <HistoryTable path={historyPath(filter, meant?.uid, readerZone())} />
      )}
    </section>
  );
}

function HistoryTable({ path }: { path: string }) {
  const { list, more } = usePaged<Event>(path);
  const rows = list.kind === "ready" ? list.value.results : [];
  const known = useDevices(rows.map(({ device_uid }) => device_uid));
  const taken = rows.filter(({ acknowledged }) => acknowledged).map(({ id }) => id);
  const done = useLoaded(taken.join(), () => readAll(taken));
  const doneById = new Map(done.kind === "ready" ? done.value.map((one) => [one.event_id, one]) : []);
  useReload(() => list.kind === "ready" && list.reload());

  if (list.kind === "loading") return <Loading />;
  if (list.kind === "failed") return <Failure error={list.error} onRetry={list.reload} />;
  if (rows.length === 0) return <Empty />;
  return (
    <>
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">{texts("kind")}</th>
            <th scope="col">{texts("device")}</th>
            <th scope="col">{texts("when")}</th>
            <th scope="col">{texts("whatWasDone")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <tr key={event.id}>
              <td>
                <span class={`dot ${event.severity}`} aria-hidden="true" /> {eventKind(event.event_type)}{" "}
                <small>{texts(event.severity)}</small>
              </td>
              <td data-label={texts("device")}>
                <Link to={`/console/devices/${event.device_uid}`}>
                  {nameOf(known.get(event.device_uid), event.device_uid)}
                </Link>
              </td>
              <td data-label={texts("when")}>
                <time dateTime={event.ts}>{showTime(event.ts)}</time>
              </td>
              <td data-label={texts("whatWasDone")}>
                <Done event={event} done={doneById.get(event.id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more && (
        <button type="button" onClick={() => void more()}>
          {common("more")}
        </button>
      )}
    </>
  );
}

function Done({ event, done }: { event: Event; done: Acknowledgement | undefined }) {
  if (event.acknowledged_at === null) return event.severity === "info" ? "–" : texts("notYet");
  const time = showTime(event.acknowledged_at);
  return (
    <>
      {done?.notes && <q>{done.notes}</q>}{" "}
      <small>{done ? texts("by", { name: done.name ?? texts("partner"), time }) : time}</small>
    </>
  );
}

const idsAtOnce = 200;
async function readAll(ids: readonly string[]): Promise<Acknowledgement[]> {
  const found: Acknowledgement[] = [];
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    found.push(...(await listAcknowledgements(ids.slice(start, start + idsAtOnce))));
  }
  return found;
}

/** Calls a moment after the stream has told of a new event or of one that was taken care of. */
function useReload(reload: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const current = useRef(reload);
  current.current = reload;
  const later = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      current.current();
    }, reloadAfterMs);
  };
  useStreamEvent("event", later);
  useStreamEvent("event_acknowledged", later);
  useStreamEvent("resync", later);
  useEffect(() => () => clearTimeout(timer.current), []);
}
