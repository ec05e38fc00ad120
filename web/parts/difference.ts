/** What changed of a field, in pieces that can be read: parts of a record one by one, of a list only what came and went. */
export interface Difference {
  /** The name of the field, with those of its parts after dots. */
  field: string;
  removed: readonly unknown[];
  added: readonly unknown[];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === "";
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export function differencesOf(field: string, before: unknown, after: unknown): Difference[] {
  if (isRecord(before) || isRecord(after)) {
    const [old, fresh] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
    const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
    const parts = names.filter((name) => !same(old[name], fresh[name]));
    return parts.flatMap((name) => differencesOf(`${field}.${name}`, old[name], fresh[name]));
  }
  if (Array.isArray(before) || Array.isArray(after)) {
    const [old, fresh] = [before, after].map((value): unknown[] => (Array.isArray(value) ? value : [])) as [
      unknown[],
      unknown[],
    ];
    const removed = old.filter((item) => !fresh.some((other) => same(item, other)));
    const added = fresh.filter((item) => !old.some((other) => same(item, other)));
    // The same items in another order: both are shown whole.
    return removed.length + added.length > 0
      ? [{ field, removed, added }]
      : [{ field, removed: [old], added: [fresh] }];
  }
  return [{ field, removed: isEmpty(before) ? [] : [before], added: isEmpty(after) ? [] : [after] }];
}
