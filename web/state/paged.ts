import { useRef } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Page } from "../api/types.ts";
import { type Loaded, useLoaded } from "./loaded.ts";

/** A list whose pages are added one by one. `more` is undefined once all rows are there. */
export function usePaged<T>(path: string): { list: Loaded<Page<T>>; more: (() => Promise<void>) | undefined } {
  const list = useLoaded(path, () => get<Page<T>>(path));
  const shown = useRef(path);
  shown.current = path;
  if (list.kind !== "ready" || list.value.next === null) return { list, more: undefined };
  const { value, set } = list;
  const next = new URL(list.value.next);
  async function more(): Promise<void> {
    const page = await get<Page<T>>(next.pathname + next.search);
    // The reader may have chosen another filter meanwhile.
    if (shown.current === path) set({ ...page, results: [...value.results, ...page.results] });
  }
  return { list, more };
}
