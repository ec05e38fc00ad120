import type { Route } from "./route.ts";

/** Whether a call that a route matched means a literal path of the table instead, and so is outside the surface. */
export type LiteralCheck = (route: Route, params: Readonly<Record<string, string>>) => boolean;

const segmentsOf = (path: string): string[] => path.split("/").filter((segment) => segment !== "");

/**
 * Literal path segments win over ids: where one route has `server-accept`, no other has an object of that name. The router
 * alone would hand `GET …/server-accept/` to the route that reads by id, because the literal path has no GET.
 */
export function literalSegments(routes: readonly Route[]): LiteralCheck {
  const literals = new Map<string, Set<string>>();
  for (const { path } of routes) {
    const segments = segmentsOf(path);
    for (const [index, segment] of segments.entries()) {
      if (segment.startsWith(":")) continue;
      const place = placeOf(segments.slice(0, index));
      literals.set(place, (literals.get(place) ?? new Set()).add(segment));
    }
  }
  return (route, params) => {
    const segments = segmentsOf(route.path);
    return segments.some(
      (segment, index) =>
        segment.startsWith(":") &&
        literals.get(placeOf(segments.slice(0, index)))?.has(params[segment.slice(1)] ?? "") === true,
    );
  };
}

/** Where a segment stands, whatever its parameters are called. */
const placeOf = (before: readonly string[]): string =>
  before.map((segment) => (segment.startsWith(":") ? ":" : segment)).join("/");
