import { setQuery, useQuery } from "../state/router.ts";
import { common } from "../texts/common.ts";
import { deviceListTexts as texts } from "../texts/devices.ts";
import { batteryFilters, oneOf, orders, seenFilters, stateFilters } from "./device-filter.ts";
import { stateWord } from "./device-table.tsx";
import { Choice, Field } from "./field.tsx";

/** What was chosen, from the address: it survives a reload and can be shared. */
export function useDeviceFilters() {
  const query = useQuery();
  return {
    search: query.get("search") ?? "",
    state: oneOf(stateFilters, query.get("state")),
    battery: oneOf(batteryFilters, query.get("battery")),
    seen: oneOf(seenFilters, query.get("seen")),
    order: oneOf(orders, query.get("sort")),
  };
}

/** Narrows the list of devices. */
export function DeviceFilters({ search, state, battery, seen, order }: ReturnType<typeof useDeviceFilters>) {
  return (
    <search class="filters">
      <Field label={common("search")} type="search" value={search} onInput={(text) => setQuery({ search: text })} />
      <Choice
        label={texts("state")}
        value={state}
        onChange={(value) => setQuery({ state: value })}
        options={stateFilters.map((one) => [one, one === "" ? texts("any") : stateWord(one)] as const)}
      />
      <Choice
        label={texts("batteryFilter")}
        value={battery}
        onChange={(value) => setQuery({ battery: value })}
        options={[
          ["", texts("any")],
          ["low", texts("low")],
          ["half", texts("half")],
          ["unknown", common("unknown")],
        ]}
      />
      <Choice
        label={texts("lastSeenFilter")}
        value={seen}
        onChange={(value) => setQuery({ seen: value })}
        options={[
          ["", texts("any")],
          ["hour", texts("hour")],
          ["day", texts("day")],
          ["older", texts("older")],
          ["never", common("never")],
        ]}
      />
      <Choice
        label={texts("sort")}
        value={order}
        onChange={(value) => setQuery({ sort: value === "name" ? undefined : value })}
        options={[
          ["name", common("name")],
          ["state", texts("state")],
          ["battery", common("battery")],
          ["seen", common("lastSeen")],
        ]}
      />
    </search>
  );
}
