/** A `Range` header against a file of this many bytes (RFC 9110 14). Positions are inclusive. */
export type ByteRange = { kind: "whole" } | { kind: "part"; first: number; last: number } | { kind: "unsatisfiable" };

/** Several ranges, other units and what is no range at all are ignored, as the standard allows. */
export function readRange(header: string | undefined, size: number): ByteRange {
  const match = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "");
  const [, from = "", to = ""] = match ?? [];
  if (!match || (from === "" && to === "")) return { kind: "whole" };
  if (from === "") {
    const count = Number(to);
    if (count === 0 || size === 0) return { kind: "unsatisfiable" };
    return { kind: "part", first: Math.max(0, size - count), last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return { kind: "whole" };
  if (first >= size) return { kind: "unsatisfiable" };
  return { kind: "part", first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
