import { useEffect, useState } from "preact/hooks";

/** A value that pages read and that changes from outside of them. */
export interface Store<T> {
  get(): T;
  set(next: T): void;
  update(change: (current: T) => T): void;
  /** Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
}

export function makeStore<T>(initial: T): Store<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  const set = (next: T): void => {
    if (Object.is(next, current)) return;
    current = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => current,
    set,
    update: (change) => set(change(current)),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The part of a store that a component shows; it is drawn again only when that part changes. */
export function useStore<T, S = T>(store: Store<T>, select: (value: T) => S = (value) => value as unknown as S): S {
  const [selected, setSelected] = useState(() => select(store.get()));
  useEffect(() => {
    const read = (): void => setSelected(() => select(store.get()));
    read();
    return store.subscribe(read);
  }, [store]);
  return selected;
}
