import { makeStore, type Store } from "../state/store.ts";
import { endSession } from "./client.ts";
import { readEventStream, type StreamEvent } from "./event-stream.ts";

export type StreamKind = "hello" | "device" | "event" | "event_acknowledged" | "message" | "command" | "resync";
export type StreamState = "connecting" | "live" | "lost";

export interface Stream {
  state: Store<StreamState>;
  on(kind: StreamKind, listener: (data: unknown) => void): () => void;
  close(): void;
}

const kinds: readonly StreamKind[] = ["hello", "device", "event", "event_acknowledged", "message", "command", "resync"];
const isStreamKind = (kind: string): kind is StreamKind => kinds.some((one) => one === kind);

/** The server sends a comment line every 15 seconds; a connection that is silent for longer is dead, whatever the browser thinks. */
const maxSilenceMs = 40_000;
const retryMs = 2000;

/**
 * The one stream of this browser. A connection that ends or falls silent, as when a laptop sleeps, is made anew with the id of
 * the last event. Since device changes of the time between are not repeated, the pages then read everything again.
 */
export function openStream(): Stream {
  const state = makeStore<StreamState>("connecting");
  const listeners = new Map<StreamKind, Set<(data: unknown) => void>>(kinds.map((kind) => [kind, new Set()]));
  const tell = (kind: StreamKind, data: unknown): void => {
    for (const listener of listeners.get(kind) ?? []) listener(data);
  };
  let connection: AbortController | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let heardAtMs = Date.now();
  let lastId = "";
  let wasLive = false;

  function hear({ kind, data, id }: StreamEvent): void {
    lastId = id === "" ? lastId : id;
    if (!isStreamKind(kind)) return;
    if (kind === "hello") {
      state.set("live");
      if (wasLive) tell("resync", {});
      wasLive = true;
    }
    tell(kind, JSON.parse(data));
  }

  async function read(signal: AbortSignal): Promise<void> {
    const answer = await fetch("/console/api/stream/", {
      credentials: "same-origin",
      cache: "no-store",
      headers: { Accept: "text/event-stream", ...(lastId === "" ? {} : { "Last-Event-ID": lastId }) },
      signal,
    });
    if (answer.status === 401) endSession();
    if (!answer.ok || !answer.body) return;
    await readEventStream(answer.body, {
      onBytes: () => {
        heardAtMs = Date.now();
      },
      onEvent: (event) => {
        if (!signal.aborted) hear(event);
      },
    });
  }

  function connect(): void {
    connection?.abort();
    clearTimeout(retry);
    connection = new AbortController();
    const { signal } = connection;
    heardAtMs = Date.now();
    read(signal)
      // Whatever ended it, the next connection begins where this one stopped.
      .catch(() => undefined)
      .finally(() => {
        if (signal.aborted) return;
        state.set("lost");
        retry = setTimeout(connect, retryMs);
      });
  }

  const lose = (): void => state.set("lost");
  const watch = setInterval(() => {
    if (Date.now() - heardAtMs < maxSilenceMs) return;
    lose();
    connect();
  }, 5000);
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
      connection?.abort();
      clearTimeout(retry);
      clearInterval(watch);
      removeEventListener("online", connect);
      removeEventListener("offline", lose);
    },
  };
}
