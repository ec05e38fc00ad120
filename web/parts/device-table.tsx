import type { Device } from "../api/types.ts";
import { type DeviceState, stateOf } from "../state/device-state.ts";
import { openAlarms } from "../state/live.ts";
import { useNow } from "../state/now.ts";
import { hasRole } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { deviceAdminTexts as adminTexts } from "../texts/device-admin.ts";
import { deviceListTexts as texts } from "../texts/devices.ts";
import { showAge, showNumber, showTime } from "../texts/format.ts";
import { nameOf } from "./alarm-card.tsx";
import { isLow } from "./device-filter.ts";
import { Link } from "./link.tsx";

export const stateWord = (state: DeviceState): string => {
  if (state === "alarm") return texts("stateAlarm");
  return state === "stale" ? texts("stateStale") : common(state);
};

interface DeviceTableProps {
  rows: readonly Device[];
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
  onEdit(device: Device): void;
}

/** Devices with what one looks for in a list; administrators choose some of them, or change one. */
export function DeviceTable({ rows, chosen, onChoose, onEdit }: DeviceTableProps) {
  const alarms = useStore(openAlarms);
  const nowMs = useNow();
  const isAdmin = hasRole("ADMIN");
  const inAlarm = new Set(alarms.map(({ device_uid }) => device_uid));
  const areAllChosen = rows.every(({ uid }) => chosen.has(uid));
  const choose = (uids: readonly string[], isOn: boolean): void => {
    const next = new Set(chosen);
    for (const uid of uids) {
      if (isOn) next.add(uid);
      else next.delete(uid);
    }
    onChoose(next);
  };
  return (
    <>
      {isAdmin && (
        <label class="check">
          <input
            type="checkbox"
            checked={areAllChosen}
            onChange={({ currentTarget }) =>
              choose(
                rows.map(({ uid }) => uid),
                currentTarget.checked,
              )
            }
          />
          <span>{adminTexts("selectShown")}</span>
        </label>
      )}
      <table class="stack devices">
        <thead>
          <tr>
            {isAdmin && <td />}
            <th scope="col">{common("name")}</th>
            <th scope="col">{texts("state")}</th>
            <th scope="col">{common("battery")}</th>
            <th scope="col">{common("lastSeen")}</th>
            <th scope="col">{texts("model")}</th>
            {isAdmin && <td />}
          </tr>
        </thead>
        <tbody>
          {rows.map((device) => (
            <DeviceRow
              key={device.uid}
              device={device}
              state={stateOf(device, inAlarm.has(device.uid), nowMs)}
              nowMs={nowMs}
              isChosen={chosen.has(device.uid)}
              onChoose={(isOn) => choose([device.uid], isOn)}
              onEdit={onEdit}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

interface DeviceRowProps {
  device: Device;
  state: DeviceState;
  nowMs: number;
  isChosen: boolean;
  onChoose(isOn: boolean): void;
  onEdit(device: Device): void;
}

function DeviceRow({ device, state, nowMs, isChosen, onChoose, onEdit }: DeviceRowProps) {
  const percent = device.last_status.bat?.value;
  const name = nameOf(device, device.uid);
  const isAdmin = hasRole("ADMIN");
  return (
    <tr>
      {isAdmin && (
        <td class="row-choice">
          <input
            type="checkbox"
            aria-label={adminTexts("select", { name })}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
          />
        </td>
      )}
      <td class="row-name">
        <Link to={`/console/devices/${device.uid}`}>{name}</Link>
        <br />
        <small>{[device.uid, ...device.tags].join(" · ")}</small>
      </td>
      <td data-label={texts("state")}>
        <span class={`dot ${state}`} aria-hidden="true" /> {stateWord(state)}
      </td>
      <td data-label={common("battery")} class={isLow(percent) ? "battery-low" : ""}>
        {percent === undefined ? common("unknown") : `${isLow(percent) ? "▼ " : ""}${showNumber(percent, 0)} %`}
      </td>
      <td data-label={common("lastSeen")}>
        {device.last_seen_at === null ? (
          common("never")
        ) : (
          <time dateTime={device.last_seen_at} title={showTime(device.last_seen_at)}>
            {showAge(device.last_seen_at, nowMs)}
          </time>
        )}
      </td>
      <td data-label={texts("model")}>{device.device_model_name}</td>
      {isAdmin && (
        <td class="row-action">
          <button type="button" class="plain" aria-label={texts("editDevice", { name })} onClick={() => onEdit(device)}>
            {common("edit")}
          </button>
        </td>
      )}
    </tr>
  );
}
