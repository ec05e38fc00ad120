import type { Assignment, Role } from "../api/types.ts";

/** What lets somebody see a device: the role in the organization, or an assignment of that device. */
export type Access = { by: "role"; role: Role; canAct: true } | { by: "assignment"; row: Assignment; canAct: boolean };

export const seesEverything = (role: Role): boolean => role === "ADMIN" || role === "OWNER";

/** A role that only looks does so with every device, and an assignment that only looks does so for every role below ADMIN. */
export function accessOf(role: Role, row: Assignment): Access {
  if (seesEverything(role)) return { by: "role", role, canAct: true };
  return { by: "assignment", row, canAct: role === "USER" && row.role !== "viewer" };
}

/** Those who see all, and those to whom the device is assigned, each once. `roleOf` is undefined for who is not a member. */
export function peopleWithAccess(
  administrators: readonly { id: string; role: Role }[],
  rows: readonly Assignment[],
  roleOf: (userId: string) => Role | undefined,
): { userId: string; access: Access }[] {
  const known = new Set(administrators.map(({ id }) => id));
  return [
    ...rows
      .filter(({ user_id }) => !known.has(user_id))
      .toSorted((a, b) => b.role_value - a.role_value)
      .map((row) => ({ userId: row.user_id, access: accessOf(roleOf(row.user_id) ?? "VIEWER", row) })),
    ...administrators.map(({ id, role }) => ({ userId: id, access: { by: "role", role, canAct: true } as const })),
  ];
}
