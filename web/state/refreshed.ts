import { useEffect } from "preact/hooks";
import { get } from "../api/client.ts";
import { type Loaded, useLoaded } from "./loaded.ts";

/** Loads an address again and again while it is shown and the page is looked at. */
export function useRefreshed<T>(path: string, everyMs = 10_000): Loaded<T> {
  const loaded = useLoaded(path, () => get<T>(path));
  const reload = loaded.kind === "loading" ? undefined : loaded.reload;
  useEffect(() => {
    if (!reload) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [path, loaded.kind]);
  return loaded;
}
