import { useEffect } from "preact/hooks";
import { type Loaded, useLoaded } from "./loaded.ts";

/** Loaded again and again while the page is looked at. */
export function useRefreshed<T>(key: string, load: () => Promise<T>, everyMs: number): Loaded<T> {
  const loaded = useLoaded(key, load);
  const { kind } = loaded;
  useEffect(() => {
    if (kind !== "ready") return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) loaded.reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [key, kind, everyMs]);
  return loaded;
}
