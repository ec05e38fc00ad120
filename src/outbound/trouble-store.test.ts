import { expect, it } from "vitest";
import { verdictsOf } from "./trouble-store.ts";

const attempt = (integrationId: string, startedAtMs: number, error: string | null) => ({
  integrationId,
  organizationId: "o",
  startedAtMs,
  error,
});

it("a webhook fails since the first failure after its last success", () => {
  expect(
    verdictsOf([
      attempt("a", 1, "HTTP 500"),
      attempt("b", 2, "HTTP 500"),
      attempt("a", 3, null),
      attempt("a", 4, "HTTP 502"),
      attempt("a", 5, "HTTP 502"),
      attempt("c", 6, null),
    ]),
  ).toEqual([
    { integrationId: "a", organizationId: "o", hasSucceeded: true, failingSinceMs: 4 },
    { integrationId: "b", organizationId: "o", hasSucceeded: false, failingSinceMs: 2 },
    { integrationId: "c", organizationId: "o", hasSucceeded: true, failingSinceMs: undefined },
  ]);
});
