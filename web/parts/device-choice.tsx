import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Device, Page } from "../api/types.ts";
import { useDebounced } from "../state/debounced.ts";
import { useDevices } from "../state/fleet.ts";
import { useLoaded } from "../state/loaded.ts";
import { accessTexts as texts } from "../texts/access.ts";
import { Choice, Field } from "./field.tsx";

const nameOf = ({ name, uid }: Pick<Device, "name" | "uid">): string => (name === "" ? uid : `${name} (${uid})`);

/** A device, found by the service among however many. */
export function DeviceChoice({ value, onChange }: { value: string; onChange(uid: string): void }) {
  const [search, setSearch] = useState("");
  const path = `/console/api/devices/?page_size=50&search=${encodeURIComponent(useDebounced(search))}`;
  const devices = useLoaded(path, () => get<Page<Device>>(path));
  const found = devices.kind === "ready" ? devices.value.results : [];
  // What was chosen before another search, or by the address, stays chosen.
  const chosen = useDevices(value === "" ? [] : [value]).get(value);
  const options = found.map((device) => [device.uid, nameOf(device)] as const);
  const isFound = value === "" || found.some(({ uid }) => uid === value);
  return (
    <>
      <Field label={texts("findDevice")} type="search" value={search} onInput={setSearch} />
      <Choice
        label={texts("device")}
        value={value}
        onChange={onChange}
        options={[
          ["", texts("chooseDevice")],
          ...(isFound ? [] : [[value, chosen ? nameOf(chosen) : value] as const]),
          ...options,
        ]}
      />
    </>
  );
}
