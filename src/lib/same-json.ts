type Texts = (a: string, b: string) => boolean;

/** Equal as JSON values: the order of keys does not count, that of items does. `isSameText` may be wider than equality. */
export function isSameJson(a: unknown, b: unknown, isSameText: Texts = (one, other) => one === other): boolean {
  if (a === b) return true;
  if (typeof a === "string" && typeof b === "string") return isSameText(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isSameJson(item, b[index], isSameText));
  }
  const keys = Object.keys(a) as (keyof typeof a)[];
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key], isSameText));
}
