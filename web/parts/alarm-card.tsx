import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { Device, Event } from "../api/types.ts";
import { dropAlarm } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { hasRole } from "../state/session.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";
import { showAge, showNumber, showTime } from "../texts/format.ts";
import { Link } from "./link.tsx";
import { Failure } from "./states.tsx";

export const nameOf = (device: Device | undefined, uid: string): string => device?.name || uid;

interface AlarmCardProps {
  event: Event;
  device: Device | undefined;
}

/** One alarm that nobody has acknowledged: who, what, where, since when, how the person is, and what to do. */
export function AlarmCard({ event, device }: AlarmCardProps) {
  const nowMs = useNow();
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const who = nameOf(device, event.device_uid);
  const what = eventKind(event.event_type);
  const place = event.location;
  const { bat, hr } = device?.last_status ?? {};

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
      </h2>
      <p>
        <time dateTime={event.ts} title={showTime(event.ts)}>
          {showAge(event.ts, nowMs)}
        </time>
        {" · "}
        {texts(event.severity === "critical" ? "critical" : event.severity === "warning" ? "warning" : "info")}
      </p>
      {event.message !== "" && <p>{event.message}</p>}
      <p>
        {place ? (
          <Link to={`/console/?device=${event.device_uid}`}>
            {texts("showOnMap")} ({showNumber(place.lat, 4)}, {showNumber(place.lng, 4)})
          </Link>
        ) : (
          texts("noPlace")
        )}
        {bat && ` · ${common("battery")} ${showNumber(bat.value, 0)} %`}
        {hr && ` · ${texts("heart")} ${showNumber(hr.value, 0)}`}
      </p>
      {hasRole("USER") && (
        <form class="row" onSubmit={(submitted) => void acknowledge(submitted)}>
          <input
            type="text"
            aria-label={texts("note")}
            placeholder={texts("note")}
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
