import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Device, Page } from "../api/types.ts";
import { currentStream } from "./live.ts";
import { type Loaded, useLoaded } from "./loaded.ts";
import { usePaged } from "./paged.ts";

type Change = Partial<Device> & { uid: string };

const drawEveryMs = 500;

/** What the stream says of the devices that are shown; many changes are drawn together. */
function useChanges(shown: ReadonlySet<string>): ReadonlyMap<string, Change> {
  const [changes, setChanges] = useState<ReadonlyMap<string, Change>>(new Map());
  const watched = useRef(shown);
  watched.current = shown;
  useEffect(() => {
    let waiting = new Map<string, Change>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      const arrived = waiting;
      waiting = new Map();
      timer = undefined;
      setChanges((known) => {
        const next = new Map([...known].filter(([uid]) => watched.current.has(uid)));
        for (const [uid, change] of arrived) next.set(uid, { ...next.get(uid), ...change });
        return next;
      });
    };
    const end = currentStream()?.on("device", (data) => {
      const change = data as Change;
      if (!watched.current.has(change.uid)) return;
      waiting.set(change.uid, { ...waiting.get(change.uid), ...change });
      timer ??= setTimeout(draw, drawEveryMs);
    });
    return () => {
      clearTimeout(timer);
      end?.();
    };
  }, []);
  return changes;
}

export interface DeviceRows {
  /** Undefined before the first answer. While another search is under way, what was found before. */
  rows: readonly Device[] | undefined;
  /** How many match, and how many there are. */
  count: number | undefined;
  total: number | undefined;
  isBusy: boolean;
  failure: Extract<Loaded<unknown>, { kind: "failed" }> | undefined;
  more: (() => Promise<void>) | undefined;
  reload(): void;
}

const listPath = "/console/api/devices/";

/** A page of the devices that match, found by the service, kept current by the stream. */
export function useDeviceRows(query: string): DeviceRows {
  const { list, more } = usePaged<Device>(`${listPath}?${query}`);
  const total = useLoaded("device total", () => get<Page<Device>>(`${listPath}?page_size=1`));
  const shown = useRef<Page<Device> | undefined>(undefined);
  if (list.kind === "ready") shown.current = list.value;
  const { current } = shown;
  const changes = useChanges(useMemo(() => new Set(current?.results.map(({ uid }) => uid)), [current]));
  return {
    rows: current?.results.map((device) => ({ ...device, ...changes.get(device.uid) })),
    count: current?.count,
    total: total.kind === "ready" ? total.value.count : undefined,
    isBusy: list.kind === "loading",
    failure: list.kind === "failed" ? list : undefined,
    more,
    reload: () => {
      if (list.kind !== "loading") list.reload();
      if (total.kind !== "loading") total.reload();
    },
  };
}
