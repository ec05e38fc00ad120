import { justDone } from "../state/done.ts";
import { devices } from "../state/fleet.ts";
import { useStore } from "../state/store.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { showClock } from "../texts/format.ts";
import { nameOf } from "./alarm-card.tsx";
import { Link } from "./link.tsx";

/** What was done in the last two minutes and by whom, told to everybody at once. */
export function DoneAlarms() {
  const done = useStore(justDone);
  const known = useStore(devices);
  return (
    <section aria-label={texts("done")} aria-live="polite" class="done-alarms">
      {done.map(({ event, name }) => (
        <p key={event.id} class="done-alarm">
          <span aria-hidden="true">✓ </span>
          <Link to={`/console/devices/${event.device_uid}`}>
            {eventKind(event.event_type)}: {nameOf(known.get(event.device_uid), event.device_uid)}
          </Link>{" "}
          {name !== undefined && (name === null ? texts("doneByPartner") : texts("doneBy", { name }))}
          {event.acknowledged_at !== null && ` · ${showClock(event.acknowledged_at)}`}
          {event.notes !== null && event.notes !== "" && <q>{event.notes}</q>}
        </p>
      ))}
    </section>
  );
}
