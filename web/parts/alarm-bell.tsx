import { useEffect, useState } from "preact/hooks";
import type { Event } from "../api/types.ts";
import { devices, onNewAlarm, openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";
import { eventKind, alarmTexts as texts } from "../texts/alarms.ts";
import { nameOf } from "./alarm-card.tsx";
import { ring } from "./sound.ts";

const soundKey = "vigil.sound";

function notify(event: Event): void {
  if (!("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  const who = nameOf(devices.get().get(event.device_uid), event.device_uid);
  new Notification(`${eventKind(event.event_type)}: ${who}`, { tag: event.id, requireInteraction: true });
}

/** Rings while somebody waits for help, and notifies when the page is not looked at. Both can be tried. */
export function AlarmBell() {
  const [isOn, setOn] = useState(() => localStorage.getItem(soundKey) !== "off");
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "denied"));
  const criticalCount = useStore(
    openAlarms,
    (alarms) => alarms.filter(({ severity }) => severity === "critical").length,
  );

  useEffect(() => {
    const heard = (event: Event): void => {
      notify(event);
      if (isOn) ring(event.severity === "critical");
    };
    onNewAlarm.add(heard);
    return () => {
      onNewAlarm.delete(heard);
    };
  }, [isOn]);
  useEffect(() => {
    if (!isOn || criticalCount === 0) return undefined;
    const timer = setInterval(() => ring(true), 15_000);
    return () => clearInterval(timer);
  }, [isOn, criticalCount > 0]);

  const switchSound = (): void => {
    localStorage.setItem(soundKey, isOn ? "off" : "on");
    setOn(!isOn);
    if (!isOn) ring(false);
  };
  return (
    <span class="bell">
      <button type="button" class="plain" aria-pressed={isOn} onClick={switchSound}>
        {texts(isOn ? "soundOn" : "soundOff")}
      </button>
      {permission === "default" && (
        <button type="button" class="plain" onClick={() => void Notification.requestPermission().then(setPermission)}>
          {texts("notify")}
        </button>
      )}
    </span>
  );
}
