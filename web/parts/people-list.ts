import type { Assignment, User } from "../api/types.ts";

export interface Person {
  id: string;
  name: string;
  email: string;
  /** Undefined for those whose membership the reader may not see. */
  user: User | undefined;
  assignments: Assignment[];
}

export type DeviceShare = "all" | "with" | "without";

const collator = new Intl.Collator(undefined, { numeric: true });

const nameOfHolder = ({ user }: Assignment): string =>
  [user.first_name, user.last_name].filter((part) => part !== "").join(" ");

/** Members and whoever shares a device with the reader, each with their devices, by name. */
export function peopleOf(users: readonly User[], assignments: readonly Assignment[]): Person[] {
  const people = new Map<string, Person>(
    users.map((user) => [
      user.id,
      { id: user.id, name: user.full_name || user.email, email: user.email, user, assignments: [] },
    ]),
  );
  for (const assignment of assignments) {
    const { id, email } = assignment.user;
    let person = people.get(id);
    if (!person) {
      person = { id, name: nameOfHolder(assignment) || email, email, user: undefined, assignments: [] };
      people.set(id, person);
    }
    person.assignments.push(assignment);
  }
  return [...people.values()].toSorted(
    (a, b) => collator.compare(a.name, b.name) || collator.compare(a.email, b.email),
  );
}

/** By name, e-mail, phone number, and the names and IMEIs of their devices. */
export function findPeople(people: readonly Person[], search: string, share: DeviceShare): Person[] {
  const wanted = search.trim().toLowerCase();
  const textsOf = ({ name, email, user, assignments }: Person): string[] => [
    name,
    email,
    user?.phone_number ?? "",
    ...assignments.flatMap(({ device }) => [device.name, device.uid]),
  ];
  return people.filter(
    (person) =>
      (share === "all" || person.assignments.length > 0 === (share === "with")) &&
      (wanted === "" || textsOf(person).some((text) => text.toLowerCase().includes(wanted))),
  );
}
