import { useEffect, useState } from "preact/hooks";

export type Loaded<T> =
  | { kind: "loading" }
  | { kind: "failed"; error: unknown; reload(): void }
  | { kind: "ready"; value: T; reload(): void; set(value: T): void };

/** Loads something for a component, again whenever the key changes. An answer that comes too late is dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; outcome: { value: T } | { error: unknown } } | undefined>();
  const [round, setRound] = useState(0);
  const reload = (): void => setRound((count) => count + 1);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setState({ key, outcome: { value } }),
      (error: unknown) => isCurrent && setState({ key, outcome: { error } }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  if (!state || state.key !== key) return { kind: "loading" };
  if ("error" in state.outcome) return { kind: "failed", error: state.outcome.error, reload };
  const set = (value: T): void => setState({ key, outcome: { value } });
  return { kind: "ready", value: state.outcome.value, reload, set };
}
