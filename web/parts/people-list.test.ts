import { describe, expect, it } from "vitest";
import type { Assignment, User } from "../api/types.ts";
import { findPeople, peopleOf } from "./people-list.ts";

const user = (id: string, full_name: string) =>
  ({ id, full_name, email: `${id}@example.org`, phone_number: "+39 06 1" }) as User;
const assignment = (userId: string, name: string) =>
  ({
    device: { uid: `35${name}`, name },
    user: { id: userId, email: `${userId}@example.org`, first_name: "Carla", last_name: "Bruni" },
    role: "assigned",
  }) as Assignment;

const people = peopleOf(
  [user("zoe", "Zoe Adams"), user("anna", "Anna Rossi")],
  [assignment("zoe", "Watch 1"), assignment("zoe", "Watch 2"), assignment("carla", "Watch 2")],
);
const names = (found: typeof people): string[] => found.map(({ name }) => name);

describe("the list of people", () => {
  it("has members and those who share a device, by name", () => {
    expect(names(people)).toEqual(["Anna Rossi", "Carla Bruni", "Zoe Adams"]);
    expect(people.map(({ assignments }) => assignments.length)).toEqual([0, 1, 2]);
  });

  it("falls back to the e-mail of somebody without a name", () => {
    expect(names(peopleOf([user("nobody", "")], []))).toEqual(["nobody@example.org"]);
  });

  it("is searched by name, e-mail and device", () => {
    expect(names(findPeople(people, " ROSSI", "all"))).toEqual(["Anna Rossi"]);
    expect(names(findPeople(people, "zoe@", "all"))).toEqual(["Zoe Adams"]);
    expect(names(findPeople(people, "watch 2", "all"))).toEqual(["Carla Bruni", "Zoe Adams"]);
  });

  it("can be narrowed to those with and without a device", () => {
    expect(names(findPeople(people, "", "with"))).toEqual(["Carla Bruni", "Zoe Adams"]);
    expect(names(findPeople(people, "", "without"))).toEqual(["Anna Rossi"]);
  });
});
