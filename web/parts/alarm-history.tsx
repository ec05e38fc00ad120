import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Event, Page } from "../api/types.ts";
import { devices } from "../state/live.ts";
import { useLoaded } from "../state/loaded.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { useStore } from "../state/store.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";
import { showTime } from "../texts/format.ts";
import { nameOf } from "./alarm-card.tsx";
import { Choice } from "./field.tsx";
import { Link } from "./link.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

type Severity = "" | "critical" | "warning" | "info";

/** Events of the past, newest first, by severity. */
export function AlarmHistory() {
  const known = useStore(devices);
  const severity = (useQuery().get("severity") ?? "") as Severity;
  const [extra, setExtra] = useState<{ rows: Event[]; next: string | null } | undefined>();
  const path = `/api/v1/events/?page_size=50&ordering=-ts${severity === "" ? "" : `&severity=${severity}`}`;
  const first = useLoaded(path, () => get<Page<Event>>(path));
  if (first.kind === "loading") return <Loading />;
  if (first.kind === "failed") return <Failure error={first.error} onRetry={first.reload} />;
  const rows = [...first.value.results, ...(extra?.rows ?? [])];
  const next = extra ? extra.next : first.value.next;

  async function loadMore(address: string): Promise<void> {
    const { pathname, search } = new URL(address);
    const page = await get<Page<Event>>(pathname + search);
    setExtra({ rows: [...(extra?.rows ?? []), ...page.results], next: page.next });
  }
  const chooseSeverity = (wanted: Severity): void => {
    setExtra(undefined);
    setQuery({ severity: wanted });
  };
  return (
    <section aria-labelledby="history">
      <h2 id="history">{texts("history")}</h2>
      <Choice<Severity>
        label={common("status")}
        value={severity}
        onChange={chooseSeverity}
        options={[
          ["", texts("all")],
          ["critical", texts("critical")],
          ["warning", texts("warning")],
          ["info", texts("info")],
        ]}
      />
      {rows.length === 0 ? (
        <Empty />
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{texts("kind")}</th>
                <th scope="col">{texts("device")}</th>
                <th scope="col">{common("status")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((event) => (
                <tr key={event.id}>
                  <td>
                    <span class={`dot ${event.severity}`} aria-hidden="true" /> {eventKind(event.event_type)}
                  </td>
                  <td>
                    <Link to={`/console/devices/${event.device_uid}`}>
                      {nameOf(known.get(event.device_uid), event.device_uid)}
                    </Link>
                  </td>
                  <td>
                    <time dateTime={event.ts}>{showTime(event.ts)}</time>
                    {event.acknowledged_at && (
                      <small> {texts("acknowledgedAt", { time: showTime(event.acknowledged_at) })}</small>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && (
        <button type="button" onClick={() => void loadMore(next)}>
          {common("more")}
        </button>
      )}
    </section>
  );
}
