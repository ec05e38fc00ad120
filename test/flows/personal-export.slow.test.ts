import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deviceTables } from "../../src/privacy/device-tables.ts";
import { openPersonalWorld, type PersonalWorld, type Settled } from "../support/personal-world.ts";
import { readZip } from "../support/zip-reader.ts";

let world: PersonalWorld;
let ada: Settled;
let bob: Settled;
let entries: Map<string, Buffer>;
let file: string;

beforeAll(async () => {
  world = await openPersonalWorld();
  const phone = "+39333000001";
  const one = { email: "ada.person@example.org", firstName: "Firstada", lastName: "Lastada", phone, word: "wordada" };
  const two = { email: "bob.person@example.org", firstName: "Firstbob", lastName: "Lastbob", phone, word: "wordbob" };
  ada = await world.settle({ ...one, uid: "490154203200001" });
  bob = await world.settle({ ...two, uid: "490154203200002" });
  file = join(world.dataDir, "ada.zip");
  const args = ["user", "export", "--org", world.organization.slug, "--email", ada.email, "--out", file];
  expect(await world.vigilJson(args)).toMatchObject({
    file,
    devices: [ada.uid],
    rows: { locations: 1, recordings: 1 },
  });
  entries = readZip(await readFile(file));
}, 240_000);
afterAll(() => world?.close());

const linesOf = (kind: string): Record<string, unknown>[] =>
  (entries.get(`${kind}.jsonl`)?.toString("utf8") ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

test("an export has a file of JSON lines for every table of a device, and for what is held of the person", () => {
  const kinds = deviceTables.filter(({ notExported }) => notExported === undefined).map(({ table }) => table);
  const personal = ["person", "memberships", "sessions", "assignments", "audit_log", "sent_messages", "geofences"];
  for (const kind of [...kinds, ...personal, "devices", "outbound_events", "delivery_attempts"]) {
    expect([kind, linesOf(kind).length > 0]).toEqual([kind, true]);
  }
  expect(linesOf("person")).toMatchObject([{ id: ada.userId, email: ada.email }]);
  expect(linesOf("memberships")).toMatchObject([
    { first_name: "Firstada", last_name: "Lastada", phone_number: ada.phone },
  ]);
  expect(linesOf("devices")).toMatchObject([{ uid: ada.uid, metadata: { note: "wordada again" } }]);
  expect(linesOf("locations")).toMatchObject([{ address: "wordada Street 5" }]);
  expect(linesOf("ecg_parts")).toMatchObject([{ samples: [12, 14, 9, -3] }]);
  expect(linesOf("acknowledged_events")).toMatchObject([{ notes: "wordada was called" }]);
});

test("an export has the recordings as files, and a manifest that counts what is in it", () => {
  const [recording] = [...entries.keys()].filter((name) => name.startsWith(`recordings/${ada.uid}/`));
  expect(recording).toMatch(/\.amr$/);
  expect(entries.get(recording as string)?.toString()).toBe("wordada speaks");
  const manifest = JSON.parse(entries.get("manifest.json")?.toString("utf8") ?? "");
  expect(manifest).toMatchObject({ email: ada.email, organization: world.organization.slug, devices: [ada.uid] });
  expect(manifest.rows.audit_log).toBe(linesOf("audit_log").length);
});

test("an export holds no secrets and nothing of other people", () => {
  const everything = [...entries.values()].map((content) => content.toString("utf8")).join("\n");
  expect(everything).not.toMatch(/password_hash|token_hash|sealed_secret|code_hash|argon2|scrypt/);
  for (const mark of [bob.email, bob.firstName, bob.word, bob.userId]) expect(everything).not.toContain(mark);
});

test("the file of an export is readable by its owner only, and no file is overwritten", async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const args = ["user", "export", "--org", world.organization.slug, "--email", ada.email, "--out", file];
  expect(await world.vigil(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("exists already") });
  const stranger = [
    "user",
    "export",
    "--org",
    world.organization.slug,
    "--email",
    "x@example.org",
    "--out",
    `${file}2`,
  ];
  expect(await world.vigil(stranger)).toMatchObject({ code: 1, stderr: expect.stringContaining("was not a member") });
});
