import { expect, it } from "vitest";
import type { Assignment } from "../api/types.ts";
import { accessOf, peopleWithAccess } from "./access-rules.ts";

const row = (user_id: string, role: Assignment["role"]): Assignment =>
  ({ user_id, role, role_value: { owner: 30, assigned: 20, viewer: 10 }[role] }) as Assignment;

it("lets a user act on a device that is assigned, and only look at one that is shared", () => {
  expect(accessOf("USER", row("a", "assigned")).canAct).toBe(true);
  expect(accessOf("USER", row("a", "owner")).canAct).toBe(true);
  expect(accessOf("USER", row("a", "viewer")).canAct).toBe(false);
  expect(accessOf("VIEWER", row("a", "owner")).canAct).toBe(false);
});

it("names the role of an administrator as the reason, whatever is assigned", () => {
  expect(accessOf("ADMIN", row("a", "viewer"))).toEqual({ by: "role", role: "ADMIN", canAct: true });
});

it("lists everybody once, those who wear and care first", () => {
  const people = peopleWithAccess(
    [{ id: "boss", role: "OWNER" }],
    [row("eve", "viewer"), row("boss", "assigned"), row("ada", "owner")],
    () => "USER",
  );
  expect(people.map(({ userId, access }) => [userId, access.by, access.canAct])).toEqual([
    ["ada", "assignment", true],
    ["eve", "assignment", false],
    ["boss", "role", true],
  ]);
});
