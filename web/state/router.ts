import { makeStore, useStore } from "./store.ts";

/** Addresses of the console. Every one can be opened directly. */
const location$ = makeStore(current());

function current(): string {
  return location.pathname.replace(/(.)\/$/, "$1") + location.search;
}

addEventListener("popstate", () => location$.set(current()));

export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  location$.set(current());
  if (!replace) scrollTo(0, 0);
}

export const usePath = (): string => useStore(location$, (text) => text.split("?")[0] as string);

export const useQuery = (): URLSearchParams =>
  new URLSearchParams(useStore(location$, (text) => text.split("?")[1] ?? ""));

/** Changes parameters of the address without a new entry of the history: filters survive a reload and can be shared. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(location.pathname + (text === "" ? "" : `?${text}`), { replace: true });
}
