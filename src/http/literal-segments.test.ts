import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { literalSegments } from "./literal-segments.ts";
import { ok, type Route, route } from "./route.ts";

const at = (method: Route["method"], path: string): Route =>
  route({
    method,
    path,
    operationId: `${method} ${path}`,
    tag: "test",
    summary: "",
    partners: [],
    people: "never",
    responses: { 200: Type.Object({}) },
    handle: async () => ok({}),
  });

describe("literal segments", () => {
  const retrieve = at("GET", "/api/v1/things/:id/");
  const revoke = at("POST", "/api/v1/things/:id/revoke/");
  const part = at("GET", "/api/v1/things/:id/parts/:part_id/");
  const isLiteral = literalSegments([
    retrieve,
    revoke,
    part,
    at("POST", "/api/v1/things/accept/"),
    at("POST", "/api/v1/things/:thing_id/parts/bulk/"),
  ]);

  it("win over an id at the same place, also deeper in the path", () => {
    expect(isLiteral(retrieve, { id: "accept" })).toBe(true);
    expect(isLiteral(revoke, { id: "accept" })).toBe(true);
    expect(isLiteral(part, { id: "1", part_id: "bulk" })).toBe(true);
  });

  it("leave other values alone", () => {
    expect(isLiteral(retrieve, { id: "1" })).toBe(false);
    expect(isLiteral(part, { id: "bulk", part_id: "1" })).toBe(false);
    expect(isLiteral(part, { id: "1", part_id: "accept" })).toBe(false);
  });
});
