import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { claimJobs } from "../../src/db/job-table.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { type ClaimedMail, finishMail, mailJobs, postponeMail } from "../../src/mail/mail-outbox.ts";
import { type MailWorld, openMailWorld, start } from "../support/mail-world.ts";
import { until } from "../support/until.ts";

let world: MailWorld;
beforeAll(async () => {
  world = await openMailWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("two senders send each mail once", async () => {
  const sink = await world.openSink();
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: sink.url, pollMs: 5 });
  await world.openSender({ clock, smtpUrl: sink.url, pollMs: 5 });
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => world.queue({ to: `person${n}@example.org` })));
  await until(async () => expect(await world.countWith("sent")).toBe(100));
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds.toSorted()).toEqual(ids.map((id) => `<${id}@vigil.example>`).toSorted());
  expect(await world.countWith("sent", 2)).toBe(0);
});

test("a mail of a sender that died after sending is sent again after the lease, with the same Message-ID", async () => {
  const sink = await world.openSink();
  const clock = makeManualClock(start);
  // It sends, and can never write down that it did.
  const mute: Database = { ...world.db, run: () => Promise.reject(new Error("killed")) };
  const dying = await world.openSender({ clock, smtpUrl: sink.url, db: mute });
  const id = await world.queue();
  await until(() => expect(sink.raw).toHaveLength(1));
  await dying.close();
  expect(await world.stored(id)).toMatchObject({ status: "queued", attempts: 1 });

  await world.openSender({ clock, smtpUrl: sink.url });
  clock.advanceMs(59_999);
  const other = await world.queue();
  await world.untilStatus(other, "sent");
  expect((await world.stored(id)).attempts).toBe(1);
  clock.advanceMs(1);
  await world.untilStatus(id, "sent");
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds).toEqual([id, other, id].map((each) => `<${each}@vigil.example>`));
  expect(await world.stored(id)).toMatchObject({ attempts: 2, params: null });
});

test("the mail sender waits out a short absence of the database instead of sending twice", async () => {
  const sink = await world.openSink();
  let failures = 0;
  const flaky: Database = {
    ...world.db,
    run: (...statement) => (failures++ < 2 ? Promise.reject(new Error("gone")) : world.db.run(...statement)),
  };
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: sink.url, db: flaky });
  const id = await world.queue();
  await world.untilStatus(id, "sent");
  expect(await world.stored(id)).toMatchObject({ attempts: 1 });
  expect(sink.raw).toHaveLength(1);
});

test("a sender that lost its lease may report a success but not a failure", async () => {
  const claim = { leaseMs: 60_000, limit: 5, maxPerOrganization: 5, held: new Map(), lastServed: undefined };
  const claimAt = (now: Date): Promise<ClaimedMail[]> => claimJobs<ClaimedMail>(world.db, mailJobs, { ...claim, now });
  const id = await world.queue();
  const [first] = await claimAt(start);
  expect(await claimAt(new Date(start.getTime() + 59_999))).toEqual([]);
  const later = new Date(start.getTime() + 60_000);
  const [second] = await claimAt(later);
  expect([first?.attempts, second?.attempts]).toEqual([1, 2]);
  expect(await postponeMail(world.db, first!, { until: start, error: "late" })).toBe(0);
  expect(await finishMail(world.db, first!, later)).toBe(1);
  expect(await postponeMail(world.db, second!, { until: start, error: "late" })).toBe(0);
  expect((await world.stored(id)).status).toBe("sent");
});
