import { useEffect, useState } from "preact/hooks";
import type { Event } from "../api/types.ts";
import { devices, nameDevices } from "../state/fleet.ts";
import { onNewAlarm, openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { nameOf } from "./alarm-card.tsx";
import { isSoundBlocked, ring } from "./sound.ts";

const soundKey = "vigil.sound";
const ringEveryMs = 15_000;
const testShownMs = 8000;

/** False where the browser does not allow it, as those of phones do not without a service worker. */
function showNotification(title: string, options: NotificationOptions): boolean {
  if (!("Notification" in window) || Notification.permission !== "granted") return false;
  try {
    new Notification(title, options);
    return true;
  } catch {
    return false;
  }
}

async function notify(event: Event): Promise<void> {
  if (!document.hidden) return;
  await nameDevices([event.device_uid]);
  const who = nameOf(devices.get().get(event.device_uid), event.device_uid);
  showNotification(`${eventKind(event.event_type)}: ${who}`, { tag: event.id, requireInteraction: true });
}

/** Rings while somebody waits for help, and notifies when the page is not looked at. Both can be tried. */
export function AlarmBell() {
  const [isOn, setOn] = useState(() => localStorage.getItem(soundKey) !== "off");
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "denied"));
  const [result, setResult] = useState("");
  const isBlocked = useStore(isSoundBlocked);
  const criticalCount = useStore(
    openAlarms,
    (alarms) => alarms.filter(({ severity }) => severity === "critical").length,
  );

  useEffect(() => {
    const heard = (event: Event): void => {
      if (isOn) ring(event.severity === "critical");
      void notify(event);
    };
    onNewAlarm.add(heard);
    return () => {
      onNewAlarm.delete(heard);
    };
  }, [isOn]);
  useEffect(() => {
    if (!isOn || criticalCount === 0) return undefined;
    const timer = setInterval(() => ring(true), ringEveryMs);
    return () => clearInterval(timer);
  }, [isOn, criticalCount > 0]);
  useEffect(() => {
    if (result === "") return undefined;
    const timer = setTimeout(() => setResult(""), testShownMs);
    return () => clearTimeout(timer);
  }, [result]);

  const switchSound = (): void => {
    localStorage.setItem(soundKey, isOn ? "off" : "on");
    setOn(!isOn);
    if (!isOn) ring(false);
  };
  const test = (): void => {
    ring(true);
    const isNotified = showNotification(texts("testDone"), { tag: "vigil-test" });
    const more = isNotified ? texts("testNotified") : permission === "denied" ? texts("testBlocked") : "";
    setResult(`${texts("testDone")} ${more}`.trim());
  };
  return (
    <span class="bell">
      {isOn && isBlocked && <strong class="mark warn">{texts("soundBlocked")}</strong>}
      <button type="button" class="plain" aria-pressed={isOn} onClick={switchSound}>
        {texts(isOn ? "soundOn" : "soundOff")}
      </button>
      <button type="button" class="plain" onClick={test}>
        {texts("test")}
      </button>
      {permission === "default" && (
        <button type="button" class="plain" onClick={() => void Notification.requestPermission().then(setPermission)}>
          {texts("notify")}
        </button>
      )}
      <small role="status">{result}</small>
    </span>
  );
}
