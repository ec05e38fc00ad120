import { useEffect, useState } from "preact/hooks";
import { allWebhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { get } from "../api/client.ts";
import type { LogEntry, Page } from "../api/types.ts";
import { usePaged } from "../state/paged.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deliveryTexts } from "../texts/deliveries.ts";
import { showMoment } from "../texts/format.ts";
import { logTexts as texts } from "../texts/outbound-log.ts";
import { EventLink } from "./event-link.tsx";
import { Check, Choice, Field } from "./field.tsx";
import { Link } from "./link.tsx";
import { renewHead } from "./live-rows.ts";
import { Empty, Failure, Loading } from "./states.tsx";

const followEveryMs = 3000;

type Visibility = "" | "shown" | "withheld";

/** The log of an integration as its partner would replay it, newest first, with the reason where a row is withheld. */
export function EventExplorer({ path }: { path: string }) {
  const [type, setType] = useState("");
  const [visibility, setVisibility] = useState<Visibility>("");
  const [device, setDevice] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const asked = new URLSearchParams({ page_size: "50" });
  if (type !== "") asked.set("type", type);
  if (visibility !== "") asked.set("visibility", visibility);
  // A part of an IMEI would match nothing.
  if (/^\d{15}$/.test(device.trim())) asked.set("device_uid", device.trim());
  return (
    <section class="card" aria-labelledby="log">
      <h2 id="log">{texts("events")}</h2>
      <p class="hint">{texts("hint")}</p>
      <div class="filters">
        <Choice
          label={deliveryTexts("type")}
          value={type}
          onChange={setType}
          options={[["", deliveryTexts("all")], ...allWebhookEventTypes.map((one) => [one, one] as const)]}
        />
        <Choice<Visibility>
          label={texts("visibility")}
          value={visibility}
          onChange={setVisibility}
          options={[
            ["", deliveryTexts("all")],
            ["shown", texts("shown")],
            ["withheld", texts("withheld")],
          ]}
        />
        <Field label={deliveryTexts("deviceImei")} type="search" value={device} onInput={setDevice} />
        <Check label={texts("follow")} checked={isFollowing} onChange={setFollowing} />
      </div>
      <Rows path={`${path}events/?${asked}`} isFollowing={isFollowing} />
    </section>
  );
}

function Rows({ path, isFollowing }: { path: string; isFollowing: boolean }) {
  const { list, more } = usePaged<LogEntry>(path);
  const submission = useSubmit();
  const shown = list.kind === "ready" ? list.value : undefined;
  useEffect(() => {
    if (!isFollowing || shown === undefined || list.kind !== "ready") return undefined;
    let isOver = false;
    const timer = setTimeout(async () => {
      // A failure is no news: the status of the console tells when the service is away.
      const head = document.hidden ? undefined : await get<Page<LogEntry>>(path).catch(() => undefined);
      if (!isOver) list.set(head === undefined ? { ...shown } : renewHead(shown, head));
    }, followEveryMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, isFollowing, shown]);
  if (list.kind === "loading") return <Loading />;
  if (list.kind === "failed") return <Failure error={list.error} onRetry={list.reload} />;
  return (
    <>
      {list.value.results.length === 0 ? <Empty>{texts("none")}</Empty> : <Table rows={list.value.results} />}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {more && (
        <button type="button" disabled={submission.isBusy} onClick={() => void submission.run(more)}>
          {common("more")}
        </button>
      )}
    </>
  );
}

const Table = ({ rows }: { rows: readonly LogEntry[] }) => (
  <table class="stack">
    <thead>
      <tr>
        <th scope="col">{texts("event")}</th>
        <th scope="col">{deliveryTexts("device")}</th>
        <th scope="col">{texts("replay")}</th>
        <th scope="col">{texts("webhook")}</th>
        <th scope="col">{deliveryTexts("when")}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={row.id}>
          <td>
            <EventLink id={row.id} type={row.type} />
          </td>
          <td data-label={deliveryTexts("device")}>
            <Link to={`/console/devices/${row.device_uid}`}>{row.device_uid}</Link>
          </td>
          <td data-label={texts("replay")} class={row.withheld === null ? "" : "withheld"}>
            {texts(row.withheld ?? "gets")}
          </td>
          <td data-label={texts("webhook")} class={row.push === "dead_letter" ? "bad" : ""}>
            {texts(`push_${row.push}`)}
          </td>
          <td data-label={deliveryTexts("when")}>{showMoment(row.occurred_at)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
