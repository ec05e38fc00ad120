import { expect, it } from "vitest";
import { renewHead } from "./live-rows.ts";

const page = (ids: string, next: string | null, mark = "") => ({
  next,
  previous: null,
  results: [...ids].map((id) => ({ id, mark })),
});
const idsOf = ({ results }: { results: { id: string }[] }): string => results.map(({ id }) => id).join("");

it("adds new rows at the head, renews those it has, and keeps what is further down", () => {
  const renewed = renewHead(page("edcba", "more"), page("gfed", "x", "new"));
  expect([idsOf(renewed), renewed.next]).toEqual(["gfedcba", "more"]);
  expect(renewed.results[3]?.mark).toBe("new");
});

it("begins anew when rows in between are unknown, or when the head is the whole list", () => {
  expect(idsOf(renewHead(page("cba", null), page("hgf", "x")))).toBe("hgf");
  expect(renewHead(page("cba", "more"), page("dcba", null))).toEqual(page("dcba", null));
  expect(idsOf(renewHead(page("", null), page("a", null)))).toBe("a");
});
