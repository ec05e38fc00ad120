import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rawSql, sql } from "../../src/db/sql.ts";
import { columnDecisions } from "../../src/privacy/column-decisions.ts";
import { noDeviceUid } from "../../src/privacy/device-record-erasure.ts";
import { type Individual, openPersonalWorld, type PersonalWorld, type Settled } from "../support/personal-world.ts";

const individual = (name: string, index: number): Individual => ({
  email: `${name}.person@example.org`,
  firstName: `First${name}`,
  lastName: `Last${name}`,
  phone: `+3933300000${index}`,
  uid: `49015420320000${index}`,
  word: `word${name}`,
});

let world: PersonalWorld;
let people: Record<"ada" | "bob" | "cleo", Settled>;

beforeAll(async () => {
  world = await openPersonalWorld();
  const [ada, bob, cleo] = [
    await world.settle(individual("ada", 1)),
    await world.settle(individual("bob", 2)),
    await world.settle(individual("cleo", 3)),
  ];
  people = { ada, bob, cleo };
  // What one of them does to the device of another.
  const session = await world.logIn(ada.email);
  const text = { text: `${ada.word} writes to Bob` };
  await world.call("POST", `/devices/${bob.uid}/messages/send-text/`, text, session);
  const fence = { center: { lat: 41.9, lng: 12.5 }, radius: 90, name: "Club", scope: "device" };
  const { id } = await world.call("POST", "/geofences/", fence);
  await world.call("POST", `/geofences/${id}/devices/`, { device_uids: [ada.uid, bob.uid, cleo.uid] });
}, 240_000);
afterAll(() => world?.close());

/** Rows that hold any of the marks, in any case of letters. */
const mentions = (rows: readonly string[], marks: readonly string[]): string[] =>
  rows.filter((row) => marks.some((mark) => row.toLowerCase().includes(mark.toLowerCase())));
/** The service gives back calls that it had counted in advance: of a rate limit's row only the person and the policy stay. */
const withoutCounts = (row: string): string =>
  row.startsWith("rate_windows ") ? row.split(",").slice(0, 2).join(",") : row;
const missingIn = (after: readonly string[], rows: readonly string[]): string[] => {
  const left = new Set(after.map(withoutCounts));
  return rows.map(withoutCounts).filter((row) => !left.has(row));
};
const mailFiles = async (): Promise<number> => (await readdir(join(world.dataDir, "mail"))).length;

/** Random ids that name nobody once the record is gone. The log of rule changes and the audit log keep them. */
const withoutIds = ({ marks, userId, deviceId }: Settled): string[] =>
  marks.filter((mark) => mark !== userId && mark !== deviceId);

test("the people of this test have something in every table that an erasure removes rows from", async () => {
  const erased = Object.keys(columnDecisions).filter((table) => columnDecisions[table]?.erasedWith);
  const empty: string[] = [];
  for (const table of erased) {
    if (!(await world.api.db.maybeOne(sql`select 1 as found from ${rawSql(table)} limit 1`))) empty.push(table);
  }
  expect(empty).toEqual([]);
});

test("erasing a person with devices leaves nothing of them in the database, and the others as they were", async () => {
  const { ada, bob } = people;
  const before = await world.dump();
  expect(mentions(before, withoutIds(ada)).length).toBeGreaterThan(60);
  const files = await mailFiles();
  const answer = await world.vigilJson(["user", "erase", "--email", ada.email, "--devices", "--yes"]);
  expect(answer).toMatchObject({
    id: ada.userId,
    devices: 1,
    rows: { locations: 1, devices: 1, users: 1, mail_files: 1 },
  });
  expect(JSON.stringify(answer)).not.toContain(ada.email);
  const after = await world.dump();
  expect(mentions(after, withoutIds(ada))).toEqual([]);
  const tables = new Set(mentions(after, [ada.userId, ada.deviceId]).map((row) => row.split(" ")[0]));
  expect([...tables].sort()).toEqual(["audit_log", "device_state", "rule_changes"]);
  expect(await mailFiles()).toBe(files - 1);
  const isShared = (row: string): boolean => mentions([row], ada.marks).length > 0;
  const untouched = mentions(before, bob.marks).filter((row) => !isShared(row));
  expect(untouched.length).toBeGreaterThan(60);
  expect(missingIn(after, untouched)).toEqual([]);
});

test("an entry that names several devices loses the erased one alone, and the erasure itself is in the log", async () => {
  const { ada, bob } = people;
  const rows = await world.api.db.many<{ changes: Record<string, unknown>; summary: string }>`
    select changes, changes_summary as summary from audit_log
    where object_repr = 'Club' and changes ? 'devices' order by id`;
  expect(rows).toEqual([
    { changes: { devices: [[], ["erased", bob.uid, people.cleo.uid]] }, summary: expect.stringContaining(bob.uid) },
  ]);
  const entries = await world.api.db.many`
    select object_pk from audit_log
    where action = 2 and object_repr = 'erased' and additional_data = '{"erased": true, "via": "cli"}'
      and object_pk = any(${[ada.userId, ada.deviceId]}::uuid[])`;
  expect(new Set(entries.map(({ object_pk }) => object_pk))).toEqual(new Set([ada.userId, ada.deviceId]));
});

test("erasing a device removes its outbound rows, dead letters and attempts, and keeps its owner", async () => {
  const { bob, cleo, integration, api } = { ...people, ...world };
  await world.vigil(["integration", "set", integration.id, "--webhook-device-filter", bob.uid]);
  const before = await world.dump();
  const answer = await world.vigilJson(["device", "erase", bob.uid, "--yes"]);
  expect(answer).toMatchObject({
    ids: [bob.deviceId],
    rows: { outbound_events: expect.any(Number), delivery_attempts: 1 },
  });
  const after = await world.dump();
  expect(mentions(after, [bob.uid])).toEqual([]);
  for (const table of ["outbound_events", "dead_letters", "deliveries", "delivery_attempts", "messages", "events"]) {
    expect(mentions(after, [bob.word]).filter((row) => row.startsWith(`${table} `))).toEqual([]);
  }
  expect(mentions(after, [bob.email]).some((row) => row.startsWith("memberships "))).toBe(true);
  const filter = await api.db.one`select webhook_device_filter from integrations where id = ${integration.id}`;
  expect(filter).toEqual({ webhook_device_filter: [noDeviceUid] });
  const untouched = mentions(before, cleo.marks).filter((row) => mentions([row], bob.marks).length === 0);
  expect(missingIn(after, untouched)).toEqual([]);
});

test("erasing a person without --devices keeps the history of the device and takes the person out of it", async () => {
  const { cleo } = people;
  const plan = await world.vigil(["user", "erase", "--email", cleo.email], "no\n");
  expect(plan).toMatchObject({ code: 1, stdout: "" });
  expect(plan.stderr).toMatch(/Erases cleo[\s\S]*Keeps the device 490154203200003[\s\S]*not confirmed/);
  expect(await world.vigil(["user", "erase", "--email", cleo.email, "--yes"])).toMatchObject({ code: 0 });
  const after = await world.dump();
  expect(mentions(after, [cleo.email, cleo.lastName])).toEqual([]);
  const history = mentions(after, [cleo.deviceId]).map((row) => row.split(" ")[0]);
  expect(history).toEqual(expect.arrayContaining(["locations", "telemetry", "events", "device_settings"]));
  expect(mentions(after, [cleo.userId]).map((row) => row.split(" ")[0])).not.toContain("events");
  expect(mentions(after, [`${cleo.word} says hello`, `${cleo.word} was called`])).toEqual([]);
});

test("a device that two organizations have had is erased in the one that is named", async () => {
  const { db } = world.api;
  const other = await world.api.db.one<{ id: string; slug: string }>`
    select id, slug from organizations where id <> ${world.organization.id}`;
  const { uid } = people.cleo;
  await db.run`
    insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, timezone, tags, metadata, search,
      created_at, updated_at, deleted_at)
    values (gen_random_uuid(), ${other.id}, ${uid}, 'Former', 'iw-h10', 'iw', 'UTC', '{}', '{}', '', now(), now(), now())`;
  const refused = await world.vigil(["device", "erase", uid, "--yes"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("choose one with --org") });
  await world.vigilJson(["device", "erase", uid, "--org", other.slug, "--yes"]);
  const left = await db.many`select organization_id as id from devices where uid = ${uid}`;
  expect(left).toEqual([{ id: world.organization.id }]);
  expect(await db.maybeOne`select from locations where device_id = ${people.cleo.deviceId}`).toBeDefined();
});

test("somebody who was only invited is erased too", async () => {
  const email = "friend-3@example.org";
  expect(mentions(await world.dump(), [email]).length).toBeGreaterThan(2);
  expect(await world.vigilJson(["user", "erase", "--email", email, "--yes"])).toMatchObject({ id: null, devices: 0 });
  expect(mentions(await world.dump(), [email])).toEqual([]);
});

test("an erasure of what is not there says so", async () => {
  const person = await world.vigil(["user", "erase", "--email", people.ada.email, "--yes"]);
  expect(person).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing is held") });
  const device = await world.vigil(["device", "erase", people.ada.uid, "--yes"]);
  expect(device).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing is held") });
  expect(await world.vigil(["device", "erase", "12", "--yes"])).toMatchObject({ code: 2 });
});
