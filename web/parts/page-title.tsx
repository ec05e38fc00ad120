import { useEffect } from "preact/hooks";
import { openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";

/** The heading of a page, and the title of its tab, which begins with the number of open critical alarms. */
export function PageTitle({ children }: { children: string }) {
  const criticalCount = useStore(
    openAlarms,
    (alarms) => alarms.filter(({ severity }) => severity === "critical").length,
  );
  useEffect(() => {
    document.title = `${criticalCount > 0 ? `(${criticalCount}) ` : ""}${children} · Vigil`;
  }, [children, criticalCount]);
  return <h1>{children}</h1>;
}
