import { makeStore, type Store } from "../state/store.ts";

export type StreamKind = "hello" | "device" | "event" | "event_acknowledged" | "message" | "command" | "resync";
export type StreamState = "connecting" | "live" | "lost";

export interface Stream {
  state: Store<StreamState>;
  on(kind: StreamKind, listener: (data: unknown) => void): () => void;
  close(): void;
}

const kinds: readonly StreamKind[] = ["hello", "device", "event", "event_acknowledged", "message", "command", "resync"];
/** The server sends a comment line every 15 seconds; a connection that is silent for longer is dead, whatever the browser thinks. */
const maxSilenceMs = 40_000;
const retryMs = 2000;

/**
 * The one stream of this browser. The browser itself reconnects and sends the id of the last event; where it gives up, or where
 * a laptop slept and nobody noticed, a new connection is made here and everything is read again.
 */
export function openStream(): Stream {
  const state = makeStore<StreamState>("connecting");
  const listeners = new Map<StreamKind, Set<(data: unknown) => void>>(kinds.map((kind) => [kind, new Set()]));
  const tell = (kind: StreamKind, data: unknown): void => {
    for (const listener of listeners.get(kind) ?? []) listener(data);
  };
  let source: EventSource | undefined;
  let heardAtMs = Date.now();
  let isClosed = false;
  let wasLive = false;

  function connect(): void {
    source?.close();
    if (isClosed) return;
    source = new EventSource("/console/api/stream/");
    heardAtMs = Date.now();
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        heardAtMs = Date.now();
        if (kind === "hello") {
          state.set("live");
          // A second hello without the last id means that something may have been missed.
          if (wasLive) tell("resync", {});
          wasLive = true;
        }
        tell(kind, JSON.parse((event as MessageEvent<string>).data));
      });
    }
    source.onerror = () => {
      state.set("lost");
      if (source?.readyState === EventSource.CLOSED) setTimeout(connect, retryMs);
    };
  }

  const watch = setInterval(() => {
    if (Date.now() - heardAtMs < maxSilenceMs) return;
    state.set("lost");
    connect();
  }, 5000);
  addEventListener("online", connect);
  connect();

  return {
    state,
    on: (kind, listener) => {
      listeners.get(kind)?.add(listener);
      return () => listeners.get(kind)?.delete(listener);
    },
    close: () => {
      isClosed = true;
      clearInterval(watch);
      removeEventListener("online", connect);
      source?.close();
    },
  };
}
