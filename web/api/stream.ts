import { makeStore, type Store } from "../state/store.ts";
import { get } from "./client.ts";

export type StreamKind = "hello" | "device" | "event" | "event_acknowledged" | "message" | "command" | "resync";
export type StreamState = "connecting" | "live" | "lost";

export interface Stream {
  state: Store<StreamState>;
  on(kind: StreamKind, listener: (data: unknown) => void): () => void;
  close(): void;
}

const kinds: readonly StreamKind[] = ["hello", "device", "event", "event_acknowledged", "message", "command", "resync"];
/**
 * Without an event for this long the connection is tried: comment lines, by which a quiet connection shows that it is alive,
 * are not told to pages.
 */
const maxSilenceMs = 40_000;
/** A new connection that takes longer than this to greet proves that the old one is dead too. */
const maxTrialMs = 10_000;
const retryMs = 2000;

/**
 * The one stream of this browser. The browser itself reconnects and sends the id of the last event; where it gives up, or where
 * a laptop slept and nobody noticed, a new connection is made here and everything is read again. On a quiet stream the new
 * connection is made before the old one is closed, so that nobody is told of a loss that was none.
 */
export function openStream(): Stream {
  const state = makeStore<StreamState>("connecting");
  const listeners = new Map<StreamKind, Set<(data: unknown) => void>>(kinds.map((kind) => [kind, new Set()]));
  const tell = (kind: StreamKind, data: unknown): void => {
    for (const listener of listeners.get(kind) ?? []) listener(data);
  };
  /** The newest connection. */
  let source: EventSource | undefined;
  /** The one before it, while the newest has not greeted. */
  let former: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let heardAtMs = Date.now();
  let wasLive = false;

  function open(): void {
    const opened = new EventSource("/console/api/stream/");
    source = opened;
    for (const kind of kinds) {
      opened.addEventListener(kind, (event) => {
        heardAtMs = Date.now();
        if (kind === "hello" && opened === source) {
          former?.close();
          former = undefined;
          state.set("live");
          // Whatever came between two connections may have been missed.
          if (wasLive) tell("resync", {});
          wasLive = true;
        }
        tell(kind, JSON.parse((event as MessageEvent<string>).data));
      });
    }
    opened.onerror = () => {
      if (opened !== source) return;
      state.set("lost");
      if (opened.readyState !== EventSource.CLOSED) return;
      // A session that is over is refused for good; the browser does not say why.
      get("/console/api/me/").catch(() => undefined);
      clearTimeout(retry);
      retry = setTimeout(connect, retryMs);
    };
  }

  function close(): void {
    clearTimeout(retry);
    former?.close();
    former = undefined;
    source?.close();
  }
  function connect(): void {
    close();
    heardAtMs = Date.now();
    open();
  }
  const lose = (): void => state.set("lost");
  const check = (): void => {
    const silenceMs = Date.now() - heardAtMs;
    if (silenceMs > maxSilenceMs + maxTrialMs) {
      lose();
      connect();
    } else if (silenceMs > maxSilenceMs && !former) {
      former = source;
      open();
    }
  };
  const watch = setInterval(check, 5000);
  // A laptop that was closed is opened: nobody waits for the next round.
  addEventListener("visibilitychange", check);
  addEventListener("online", connect);
  addEventListener("offline", lose);
  connect();

  return {
    state,
    on: (kind, listener) => {
      listeners.get(kind)?.add(listener);
      return () => listeners.get(kind)?.delete(listener);
    },
    close: () => {
      close();
      clearInterval(watch);
      removeEventListener("visibilitychange", check);
      removeEventListener("online", connect);
      removeEventListener("offline", lose);
    },
  };
}
