import { useEffect } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { Geofence } from "../api/types.ts";
import { makeStore, useStore } from "./store.ts";

/** The fences one may see, read once: names of places for who looks at an alarm. */
const fences = makeStore<readonly Geofence[]>([]);
let isAsked = false;

async function read(): Promise<void> {
  fences.set(await getAll<Geofence>("/api/v1/geofences/?page_size=200"));
}

export function useFences(): readonly Geofence[] {
  useEffect(() => {
    if (isAsked) return;
    isAsked = true;
    read().catch(() => {
      // Asked again with the next alarm.
      isAsked = false;
    });
  }, []);
  return useStore(fences);
}

/** After somebody has signed out. */
export function forgetFences(): void {
  isAsked = false;
  fences.set([]);
}
