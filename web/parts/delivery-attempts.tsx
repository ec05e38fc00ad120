import { useState } from "preact/hooks";
import type { Attempt } from "../api/types.ts";
import { common } from "../texts/common.ts";
import { deliveryTexts as texts } from "../texts/deliveries.ts";
import { showMoment, showNumber } from "../texts/format.ts";
import { EventLink } from "./event-link.tsx";
import { Choice, Field } from "./field.tsx";
import { Link } from "./link.tsx";
import { PagedList } from "./paged-list.tsx";

type Status = "" | Attempt["status"];

const isWholeUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** What was sent and what the receiver said to it, newest first. */
export function DeliveryAttempts({ path }: { path: string }) {
  const [status, setStatus] = useState<Status>("");
  const [eventId, setEventId] = useState("");
  const [device, setDevice] = useState("");
  const [round, setRound] = useState(0);
  const asked = new URLSearchParams({ page_size: "20" });
  if (status !== "") asked.set("status", status);
  // A part of an id would be refused, and a part of an IMEI match nothing.
  if (isWholeUuid(eventId.trim())) asked.set("event_id", eventId.trim());
  if (/^\d{15}$/.test(device.trim())) asked.set("device_uid", device.trim());
  return (
    <section class="card" aria-labelledby="attempts">
      <h2 id="attempts">{texts("attempts")}</h2>
      <div class="filters">
        <Choice<Status>
          label={common("status")}
          value={status}
          onChange={setStatus}
          options={[
            ["", texts("all")],
            ["delivered", texts("delivered")],
            ["failed", texts("failed")],
          ]}
        />
        <Field label={texts("eventId")} type="search" value={eventId} onInput={setEventId} />
        <Field label={texts("deviceImei")} type="search" value={device} onInput={setDevice} />
        <button type="button" class="field" onClick={() => setRound(round + 1)}>
          {texts("refresh")}
        </button>
      </div>
      <PagedList<Attempt> key={round} path={`${path}attempts/?${asked}`} empty={texts("noAttempts")}>
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{texts("type")}</th>
                <th scope="col">{texts("device")}</th>
                <th scope="col">{texts("attempt")}</th>
                <th scope="col">{common("status")}</th>
                <th scope="col">{texts("answer")}</th>
                <th scope="col">{texts("duration")}</th>
                <th scope="col">{texts("when")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <AttemptRow key={`${row.event_id} ${row.attempt} ${row.at}`} row={row} />
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </section>
  );
}

const AttemptRow = ({ row }: { row: Attempt }) => (
  <tr>
    <td>
      <EventLink id={row.event_id} type={row.type} />
    </td>
    <td data-label={texts("device")}>
      {row.device_uid ? <Link to={`/console/devices/${row.device_uid}`}>{row.device_uid}</Link> : "–"}
    </td>
    <td data-label={texts("attempt")}>{row.attempt}</td>
    <td data-label={common("status")} class={row.status === "failed" ? "bad" : ""}>
      {texts(row.status)}
    </td>
    <td data-label={texts("answer")} class="long">
      {row.error ?? row.status_code ?? "–"}
    </td>
    <td data-label={texts("duration")}>{showNumber(row.duration_ms, 0)} ms</td>
    <td data-label={texts("when")}>{showMoment(row.at)}</td>
  </tr>
);
