import { useState } from "preact/hooks";
import { type MetricKey, metricKeys } from "../../src/codecs/metric-keys.ts";
import { get, post } from "../api/client.ts";
import type { Device, Event, FleetDevice, Location } from "../api/types.ts";
import { useFences } from "../state/fences.ts";
import { dropAlarm } from "../state/live.ts";
import { useLoaded } from "../state/loaded.ts";
import { useNow } from "../state/now.ts";
import { hasRole } from "../state/session.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";
import { showAge, showNumber, showTime } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { Link } from "./link.tsx";
import { fencesAround } from "./places.ts";
import { Failure } from "./states.tsx";

export const nameOf = (device: { name: string } | undefined, uid: string): string => device?.name || uid;

interface AlarmCardProps {
  event: Event;
  device: FleetDevice | Device | undefined;
}

const vitals: readonly MetricKey[] = ["hr", "sbp", "dbp", "spo2", "temp", "glucose", "bat"];

/** What was measured last and when, so that one knows how the person is. */
function LastVitals({ status, nowMs }: { status: Device["last_status"]; nowMs: number }) {
  const known = vitals.flatMap((metric) => {
    const entry = status[metric];
    return entry ? [{ metric, ...entry }] : [];
  });
  if (known.length === 0) return null;
  return (
    <ul class="last-vitals">
      {known.map(({ metric, value, ts }) => (
        <li key={metric}>
          {metricName(metric)}{" "}
          <strong>
            {showNumber(value)} {metricUnit(metric)}
          </strong>
          {ts !== null && <small> {showAge(ts, nowMs)}</small>}
        </li>
      ))}
    </ul>
  );
}

/** Where it happened: the zone or the address if one is known, and always the way to the map. */
function AlarmPlace({ event, device }: AlarmCardProps) {
  const nowMs = useNow();
  const fences = useFences();
  const place = event.location ?? device?.last_location ?? null;
  // An address belongs to the position it was looked up for.
  const latest = useLoaded(`address/${event.device_uid}/${place?.ts}`, async () =>
    place === null ? undefined : get<Location>(`/api/v1/devices/${event.device_uid}/locations/latest/`),
  );
  if (place === null) return <p>{texts("noPlace")}</p>;
  const [zone] = fencesAround(fences, place.lat, place.lng);
  const found = latest.kind === "ready" ? latest.value : undefined;
  const address = found?.ts === place.ts ? found.address : null;
  const words = [address, zone === undefined ? null : texts("inZone", { name: zone })].filter((word) => word !== null);
  return (
    <p>
      {words.length > 0 && <strong>{words.join(" · ")} · </strong>}
      <Link to={`/console/?device=${event.device_uid}`}>
        {texts("showOnMap")} ({showNumber(place.lat, 4)}, {showNumber(place.lng, 4)})
      </Link>
      {" · "}
      <time dateTime={place.ts} title={showTime(place.ts)}>
        {texts("position", { age: showAge(place.ts, nowMs) })}
      </time>
    </p>
  );
}

/** More about it in the reader's language; the message of the service is in one language alone. */
function detailOf({ event_type, fence_name, metric_key, value, message }: Event): string {
  if (fence_name !== null) return fence_name;
  const metric = metricKeys.find((key) => key === metric_key);
  if (metric) {
    return value === null ? metricName(metric) : `${metricName(metric)} ${showNumber(value)} ${metricUnit(metric)}`;
  }
  return event_type === "custom" ? message : "";
}

/** One alarm that nobody has acknowledged: who, what, where, since when, how the person is, and what to do. */
export function AlarmCard({ event, device }: AlarmCardProps) {
  const nowMs = useNow();
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const what = eventKind(event.event_type);
  const whole = useLoaded(`alarm/${event.device_uid}`, () => get<Device>(`/api/v1/devices/${event.device_uid}/`));
  const status = { ...(whole.kind === "ready" ? whole.value.last_status : {}), ...device?.last_status };
  const who = nameOf(device ?? (whole.kind === "ready" ? whole.value : undefined), event.device_uid);
  const detail = detailOf(event);
  const people = device && "people" in device ? device.people.filter((name) => name !== who) : [];

  async function acknowledge(submitted: globalThis.Event): Promise<void> {
    submitted.preventDefault();
    setBusy(true);
    try {
      await post(`/api/v1/events/${event.id}/acknowledge/`, note === "" ? {} : { notes: note });
      dropAlarm(event.id);
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <article class={`alarm ${event.severity}`} aria-label={`${what}: ${who}`}>
      <h2>
        <span class="kind">{what}</span> <Link to={`/console/devices/${event.device_uid}`}>{who}</Link>
        {people.length > 0 && <small> {people.join(", ")}</small>}
      </h2>
      <p>
        <time dateTime={event.ts} title={showTime(event.ts)}>
          {showAge(event.ts, nowMs)}
        </time>
        {" · "}
        {texts(event.severity === "critical" ? "critical" : event.severity === "warning" ? "warning" : "info")}
        {device && ` · ${common(device.is_online ? "online" : "offline")}`}
      </p>
      {detail !== "" && <p>{detail}</p>}
      <AlarmPlace event={event} device={device} />
      <LastVitals status={status} nowMs={nowMs} />
      {hasRole("USER") && (
        <form class="row" onSubmit={(submitted) => void acknowledge(submitted)}>
          <input
            type="text"
            aria-label={texts("note")}
            placeholder={texts("note")}
            title={texts("noteHint")}
            maxLength={1000}
            value={note}
            onInput={(input) => setNote(input.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={isBusy}>
            {texts("acknowledge")}
          </button>
        </form>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </article>
  );
}
