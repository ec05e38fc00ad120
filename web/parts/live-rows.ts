import type { Page } from "../api/types.ts";

/**
 * A list that grows at its head, newest first, after its first page was read again: rows are renewed and added, those further down
 * stay. When so much is new that the two do not meet, the rows in between are unknown, and only the new page is shown.
 */
export function renewHead<T extends { id: string }>(shown: Page<T>, head: Page<T>): Page<T> {
  const last = head.results.at(-1);
  const newest = shown.results[0];
  if (last === undefined || newest === undefined || head.next === null || last.id > newest.id) return head;
  const rest = shown.results.filter(({ id }) => id < last.id);
  return rest.length === 0 ? head : { ...shown, results: [...head.results, ...rest] };
}
