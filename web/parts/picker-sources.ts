import { get } from "../api/client.ts";
import type { Device, ListedPerson, Page } from "../api/types.ts";

export interface Option {
  key: string;
  text: string;
}

export interface FoundOptions {
  /** How many there are; `options` has the first of them. */
  count: number;
  options: Option[];
}

const pageSize = 50;

export async function findDevices(search: string): Promise<FoundOptions> {
  const query = new URLSearchParams({ page_size: String(pageSize), search });
  const { count = 0, results } = await get<Page<Device>>(`/console/api/devices/?${query}`);
  return { count, options: results.map(({ uid, name }) => ({ key: uid, text: name || uid })) };
}

export async function findPeople(search: string): Promise<FoundOptions> {
  const ordering = "last_name,first_name,email";
  const query = new URLSearchParams({ page_size: String(pageSize), ordering, search });
  const { count = 0, results } = await get<Page<ListedPerson>>(`/console/api/people/?${query}`);
  return { count, options: results.map(({ id, name, email }) => ({ key: id, text: name || email })) };
}

/** The names of people by their ids. */
export async function readNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (let start = 0; start < ids.length; start += pageSize) {
    const some = ids.slice(start, start + pageSize).join();
    const { results } = await get<Page<ListedPerson>>(`/console/api/people/?page_size=${pageSize}&id=${some}`);
    for (const { id, name, email } of results) names.set(id, name || email);
  }
  return names;
}
