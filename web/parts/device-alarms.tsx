import { useState } from "preact/hooks";
import type { Device } from "../api/types.ts";
import { openAlarms } from "../state/live.ts";
import { useStore } from "../state/store.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { AlarmCard } from "./alarm-card.tsx";

const firstShown = 2;

/** Alarms of the device that nobody has acknowledged, the most urgent first. */
export function DeviceAlarms({ device }: { device: Device }) {
  const alarms = useStore(openAlarms).filter(({ device_uid }) => device_uid === device.uid);
  const [isWhole, setWhole] = useState(false);
  if (alarms.length === 0) return null;
  const shown = isWhole ? alarms : alarms.slice(0, firstShown);
  return (
    <section aria-label={texts("openAlarms")}>
      <div class="device-alarms">
        {shown.map((event) => (
          <AlarmCard key={event.id} event={event} device={device} />
        ))}
      </div>
      {alarms.length > shown.length && (
        <p>
          <button type="button" onClick={() => setWhole(true)}>
            {texts("moreAlarms", { count: alarms.length })}
          </button>
        </p>
      )}
    </section>
  );
}
