import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { link, type MailWorld, openMailWorld, start } from "../support/mail-world.ts";
import { until } from "../support/until.ts";

let world: MailWorld;
beforeAll(async () => {
  world = await openMailWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("without a server each mail is one file that only the owner may read", async () => {
  const clock = makeManualClock(start);
  await world.openSender({ clock });
  const id = await world.queue({ locale: "fr" });
  await world.untilStatus(id, "sent");
  expect(await readdir(world.folder)).toEqual([`${id}.eml`]);
  const file = join(world.folder, `${id}.eml`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const mail = await PostalMime.parse(await readFile(file));
  expect(mail.messageId).toBe(`<${id}@vigil.example>`);
  // As it is, to be copied from the file.
  expect(await readFile(file, "utf8")).toContain(`\r\n${link}\r\n`);
  expect(mail.subject).toBe("Cura è Più a partagé un appareil avec vous");
  expect(mail.text).toContain(link);
  expect(await world.stored(id)).toMatchObject({ params: null, attempts: 1 });
});

test("a file written twice stays one, and what a killed sender left half written goes", async () => {
  const clock = makeManualClock(start);
  const mute: Database = { ...world.db, run: () => Promise.reject(new Error("killed")) };
  const dying = await world.openSender({ clock, db: mute });
  const id = await world.queue();
  await until(async () => expect(await readdir(world.folder)).toEqual([`${id}.eml`]));
  await dying.close();
  await writeFile(join(world.folder, `.${id}.1.tmp`), "From: half");
  await world.openSender({ clock });
  clock.advanceMs(60_000);
  await world.untilStatus(id, "sent");
  expect(await readdir(world.folder)).toEqual([`${id}.eml`]);
});

test("the mail sender keeps a mail whose folder cannot be written", async () => {
  await writeFile(world.folder, "in the way");
  const clock = makeManualClock(start);
  await world.openSender({ clock });
  const id = await world.queue();
  await until(async () => expect((await world.stored(id)).last_error).toBe("EEXIST"));
  await rm(world.folder);
  clock.advanceMs(10_000);
  await world.untilStatus(id, "sent");
  expect(await readdir(world.folder)).toEqual([`${id}.eml`]);
});
