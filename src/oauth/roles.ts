/** Roles of people in an organization. The numbers are stored and give the order; the labels are what the API shows. */
export const roleNumbers = { VIEWER: 10, USER: 20, ADMIN: 30, OWNER: 40 } as const;

export type MemberRole = keyof typeof roleNumbers;

export const memberRoles = Object.keys(roleNumbers) as MemberRole[];

export function roleLabel(number: number): MemberRole {
  const label = memberRoles.find((role) => roleNumbers[role] === number);
  if (!label) throw new Error(`unknown role number ${number}`);
  return label;
}

export const isAtLeast = (role: MemberRole, minRole: MemberRole): boolean => roleNumbers[role] >= roleNumbers[minRole];
