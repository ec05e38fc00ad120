import { get } from "../api/client.ts";
import type { Acknowledgement, EventDetail } from "../api/types.ts";
import { makeStore } from "./store.ts";

export interface DoneAlarm {
  event: EventDetail;
  /** Undefined until it is known; null for a partner. */
  name: string | null | undefined;
}

/** What others have just taken care of: whoever is about to call sees that somebody has. */
export const justDone = makeStore<readonly DoneAlarm[]>([]);

const shownMs = 2 * 60_000;
const maxShown = 5;

export function addDone(event: EventDetail): void {
  const isOther = ({ event: { id } }: DoneAlarm): boolean => id !== event.id;
  justDone.update((known) => [{ event, name: undefined }, ...known.filter(isOther)].slice(0, maxShown));
  setTimeout(() => justDone.update((known) => known.filter((one) => one.event !== event)), shownMs);
  listAcknowledgements([event.id])
    .then(([found]) => {
      const named = (one: DoneAlarm): DoneAlarm => (isOther(one) ? one : { ...one, name: found?.name ?? null });
      justDone.update((known) => known.map(named));
    })
    .catch(() => undefined);
}

export const listAcknowledgements = async (eventIds: readonly string[]): Promise<Acknowledgement[]> =>
  eventIds.length === 0 ? [] : get<Acknowledgement[]>(`/console/api/acknowledgements/?events=${eventIds.join(",")}`);
