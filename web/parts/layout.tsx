import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fleetFailure } from "../state/fleet.ts";
import { alarmFailure, currentStream, openAlarms, reloadLive } from "../state/live.ts";
import { usePath } from "../state/router.ts";
import { hasRole, isOperator, session, signOut } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { AlarmBell } from "./alarm-bell.tsx";
import { Link } from "./link.tsx";
import { Failure } from "./states.tsx";
import { LostNotice, StreamStatus } from "./stream-status.tsx";

const everybody = [
  ["map", "/console/"],
  ["alarms", "/console/alarms"],
  ["devices", "/console/devices"],
  ["people", "/console/people"],
  ["geofences", "/console/geofences"],
  ["thresholds", "/console/thresholds"],
] as const;
const administrators = [
  ["members", "/console/members"],
  ["integrations", "/console/integrations"],
  ["audit", "/console/audit"],
  ["organization", "/console/organization"],
] as const;
const operators = [["operator", "/console/operator"]] as const;

const isAt = (path: string, to: string): boolean =>
  to === "/console/" ? path === "/console" || path === "/console/" : path === to || path.startsWith(`${to}/`);

/** The frame of every page: where one can go, whether what one sees is live, and how many wait for help. */
export function Layout({ children }: { children: ComponentChildren }) {
  const path = usePath();
  const signedIn = useStore(session);
  const criticalCount = useStore(
    openAlarms,
    (alarms) => alarms.filter(({ severity }) => severity === "critical").length,
  );
  const [fleetProblem, alarmProblem] = [useStore(fleetFailure), useStore(alarmFailure)];
  const failure = alarmProblem ?? fleetProblem;
  const alarmCount = useStore(openAlarms, (alarms) => alarms.length);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [path]);

  const links = isOperator() ? operators : [...everybody, ...(hasRole("ADMIN") ? administrators : [])];
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {common("skip")}
      </a>
      <header class="bar">
        <span class="brand">Vigil</span>
        <span class="organization">{signedIn?.me.organization?.name ?? common("operator")}</span>
        {signedIn?.me.organization && (
          <>
            <StreamStatus stream={currentStream()} />
            <AlarmBell />
          </>
        )}
        <button type="button" class="menu-button" aria-expanded={isMenuOpen} onClick={() => setMenuOpen(!isMenuOpen)}>
          {common("menu")}
        </button>
      </header>
      <nav class={isMenuOpen ? "side open" : "side"} aria-label={common("menu")}>
        <ul>
          {links.map(([key, to]) => (
            <li key={key}>
              <Link to={to} isCurrent={isAt(path, to)}>
                {common(key)}
              </Link>
              {key === "alarms" && alarmCount > 0 && (
                <span class={criticalCount > 0 ? "count critical" : "count"} aria-hidden="true">
                  {alarmCount}
                </span>
              )}
            </li>
          ))}
        </ul>
        <ul class="own">
          <li>
            <Link to="/console/account" isCurrent={isAt(path, "/console/account")}>
              {common("account")}
            </Link>
          </li>
          <li>
            <button type="button" class="plain" onClick={() => void signOut()}>
              {common("signOut")}
            </button>
          </li>
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <LostNotice stream={currentStream()} />
        {failure !== undefined && (
          <div class="lost-notice">
            <Failure error={failure} onRetry={reloadLive} />
          </div>
        )}
        {children}
      </main>
    </div>
  );
}
