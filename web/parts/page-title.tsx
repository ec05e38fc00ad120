import { useEffect } from "preact/hooks";
import { devices } from "../state/fleet.ts";
import { openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";
import { eventKind } from "../texts/alarms.ts";
import { nameOf } from "./alarm-card.tsx";

const flashEveryMs = 1000;

/** The heading of a page, and the title of its tab: it begins with the number of open critical alarms and flashes the first. */
export function PageTitle({ children }: { children: string }) {
  const alarms = useStore(openAlarms);
  const critical = alarms.filter(({ severity }) => severity === "critical");
  const first = critical[0];
  useEffect(() => {
    const count = critical.length > 0 ? `(${critical.length}) ` : "";
    const title = `${count}${children} · Vigil`;
    document.title = title;
    if (!first) return undefined;
    let isFlashing = false;
    const timer = setInterval(() => {
      isFlashing = !isFlashing;
      const who = nameOf(devices.get().get(first.device_uid), first.device_uid);
      document.title = isFlashing ? `${count}${eventKind(first.event_type)}: ${who}` : title;
    }, flashEveryMs);
    return () => clearInterval(timer);
  }, [children, critical.length, first?.id]);
  return <h1>{children}</h1>;
}
