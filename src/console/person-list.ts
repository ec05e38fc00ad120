import type { Db } from "../db/database.ts";
import { type Sql, sql } from "../db/sql.ts";
import { containing, type ListPage, sqlPage } from "../http/list-results.ts";
import { defineList, type ListQuery } from "../http/lists.ts";
import type { Principal } from "../http/principal.ts";
import { booleanParam, QueryValueError, textsParam } from "../http/query-params.ts";
import { isUuid } from "../lib/ids.ts";
import { isAtLeast, type MemberRole, roleLabel } from "../oauth/roles.ts";
import { type AssignmentRole, assignmentRoleLabel } from "../resources/assignments/assignment-record.ts";

export interface HeldDevice {
  uid: string;
  name: string;
  role: AssignmentRole;
}

export interface ListedPerson {
  id: string;
  /** Empty for who has not given one. */
  name: string;
  email: string;
  /** Both null for those whose membership the reader may not see. */
  role: MemberRole | null;
  portal_active: boolean | null;
  /** The first of them. */
  devices: HeldDevice[];
  device_count: number;
}

const idsParam = (description: string) => {
  const texts = textsParam(description);
  return {
    ...texts,
    parse(text: string): string[] {
      const ids = texts.parse(text);
      if (!ids.every(isUuid)) throw new QueryValueError("Must be valid UUIDs.");
      return ids;
    },
  };
};

export const personList = defineList({
  kind: "page",
  ordering: ["email", "first_name", "last_name"],
  defaultOrdering: "email",
  searches: "email, first_name, last_name, phone_number, and the devices that the person holds",
  filters: {
    id: idsParam("These people alone."),
    has_devices: booleanParam("Whether the person holds a device."),
  },
});

/** A carer may hold the whole fleet; the page of the person shows all. */
const maxDevices = 20;
/** Whoever finds more devices than this with a word is looking for something else. */
const maxHolders = 500;

const seesAll = (principal: Principal): boolean =>
  principal.kind === "partner" || isAtLeast(principal.person.role, "ADMIN");

/** Assignments that the reader may see: below ADMIN those of the devices that are assigned to the reader. */
function visibleAssignments(principal: Principal): Sql {
  const organizationId = principal.organization.id;
  const open = sql`a.organization_id = ${organizationId} and a.is_active`;
  if (seesAll(principal)) return open;
  return sql`${open} and a.device_id in (
    select mine.device_id from assignments mine
    where mine.organization_id = ${organizationId} and mine.user_id = ${principal.id} and mine.is_active)`;
}

const holds = (principal: Principal): Sql => sql`exists (
  select from assignments a where ${visibleAssignments(principal)} and a.user_id = m.user_id)`;

/**
 * Few are without a device, or many are. The planner bets on many and asks for each member in the order of an index, a second
 * among 100,000; without such an order it compares members with assignments once.
 */
const unindexed = (column: Sql): Sql => sql`(${column} || '')`;

/** By what is known of the person, and by the devices; each branch has an index of its own. */
const textCondition = (principal: Principal, search: string): Sql => sql`(${containing(sql`m.search`, search)}
  or m.user_id = any(array(
    select a.user_id from devices d join assignments a on a.device_id = d.id and ${visibleAssignments(principal)}
    where d.organization_id = ${principal.organization.id} and d.deleted_at is null
      and ${containing(sql`d.search`, search)} limit ${maxHolders})))`;

interface PersonRow extends Omit<ListedPerson, "role" | "devices"> {
  role: number;
  devices: (Omit<HeldDevice, "role"> & { role: number })[];
}

/** Everybody the reader may see, with their devices: the members, or whoever shares a device with the reader. */
export async function listPeople(
  db: Db,
  principal: Principal,
  query: ListQuery<(typeof personList)["filters"]>,
): Promise<ListPage<ListedPerson>> {
  const { id, has_devices } = query.filters;
  const { search } = query;
  const assignments = visibleAssignments(principal);
  const ordered = (column: Sql): Sql => (has_devices === false ? unindexed(column) : column);
  const page = await sqlPage<PersonRow>(
    db,
    { ...query, search: undefined },
    {
      select: sql`m.user_id as id, trim(m.first_name || ' ' || m.last_name) as name, m.email, m.role,
        (select u.password_hash is not null from users u where u.id = m.user_id) as portal_active,
        (select count(*) from assignments a where ${assignments} and a.user_id = m.user_id) as device_count,
        coalesce((select jsonb_agg(h) from (
          select d.uid, d.name, a.role from assignments a
          join devices d on d.id = a.device_id and d.organization_id = a.organization_id and d.deleted_at is null
          where ${assignments} and a.user_id = m.user_id
          order by a.role desc, a.assigned_at limit ${maxDevices}) h), '[]') as devices`,
      from: sql`memberships m`,
      where: [
        sql`m.organization_id = ${principal.organization.id}`,
        sql`m.is_open`,
        ...(seesAll(principal) ? [] : [sql`(m.user_id = ${principal.id} or ${holds(principal)})`]),
        ...(id === undefined ? [] : [sql`m.user_id = any(${id}::uuid[])`]),
        ...(has_devices === undefined ? [] : [has_devices ? holds(principal) : sql`not ${holds(principal)}`]),
        ...(search === undefined ? [] : [textCondition(principal, search)]),
      ],
      search: sql`m.search`,
      ordering: {
        email: { column: ordered(sql`m.email`) },
        first_name: { column: ordered(sql`m.first_name`) },
        last_name: { column: ordered(sql`m.last_name`) },
      },
      key: sql`m.user_id`,
    },
  );
  const shown = ({ role, portal_active, devices, ...row }: PersonRow): ListedPerson => {
    const isVisible = seesAll(principal) || row.id === principal.id;
    return {
      ...row,
      role: isVisible ? roleLabel(role) : null,
      portal_active: isVisible ? portal_active : null,
      devices: devices.map((held) => ({ ...held, role: assignmentRoleLabel(held.role) })),
    };
  };
  return { ...page, rows: page.rows.map(shown) };
}
