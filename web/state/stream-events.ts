import { useEffect, useRef } from "preact/hooks";
import type { StreamKind, StreamState } from "../api/stream.ts";
import { currentStream } from "./live.ts";
import { makeStore, useStore } from "./store.ts";

/** Calls the listener with what the stream says while the component is shown. */
export function useStreamEvent<T>(kind: StreamKind, listener: (data: T) => void): void {
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => currentStream()?.on(kind, (data) => current.current(data as T)), [kind]);
}

const noStream = makeStore<StreamState>("lost");

/** While the stream is down, what has not reached its end is read again from time to time. */
export function usePolling(isOpen: boolean, everyMs: number, read: () => void): void {
  const isLive = useStore(currentStream()?.state ?? noStream) === "live";
  const current = useRef(read);
  current.current = read;
  useEffect(() => {
    if (!isOpen || isLive) return undefined;
    const timer = setInterval(() => current.current(), everyMs);
    return () => clearInterval(timer);
  }, [isOpen, isLive, everyMs]);
}
