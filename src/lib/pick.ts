/** The named fields of an object, and no others. A field that the object does not have is left out. */
export function pick<T extends object, const K extends keyof T>(from: T, fields: readonly K[]): Pick<T, K> {
  const picked: Partial<T> = {};
  for (const field of fields) if (from[field] !== undefined) picked[field] = from[field];
  return picked as Pick<T, K>;
}
