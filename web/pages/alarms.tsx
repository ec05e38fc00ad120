import { AlarmCard } from "../parts/alarm-card.tsx";
import { AlarmHistory } from "../parts/alarm-history.tsx";
import { DoneAlarms } from "../parts/done-alarms.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { devices } from "../state/fleet.ts";
import { areAlarmsLoaded, openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";
import { alarmTexts as texts } from "../texts/alarms.ts";
import { common } from "../texts/common.ts";

/** The queue of what nobody has acknowledged, critical first, and what was done before. */
export function AlarmsPage() {
  const alarms = useStore(openAlarms);
  const known = useStore(devices);
  const isReady = useStore(areAlarmsLoaded);
  return (
    <>
      <PageTitle>{common("alarms")}</PageTitle>
      <DoneAlarms />
      <section aria-label={texts("open")} class="alarms">
        {!isReady && alarms.length === 0 && <Loading />}
        {isReady && alarms.length === 0 && <Empty>{texts("none")}</Empty>}
        {alarms.map((event) => (
          <AlarmCard key={event.id} event={event} device={known.get(event.device_uid)} />
        ))}
      </section>
      <AlarmHistory />
    </>
  );
}
