import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { retryDelayMs } from "../../src/lib/retry.ts";
import { mailRetries } from "../../src/mail/mail-sender.ts";
import { makeSmtpCarrier } from "../../src/mail/smtp-carrier.ts";
import { freePort, link, type MailWorld, openMailWorld, type StoredMail, start } from "../support/mail-world.ts";
import { until } from "../support/until.ts";

/** The waits after the first, second … attempt, until a mail is given up. */
const retryWaitsMs = Array.from({ length: mailRetries.minAttempts - 1 }, (_, n) => retryDelayMs(mailRetries, n + 1)!);

let world: MailWorld;
beforeAll(async () => {
  world = await openMailWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("the mail sender loses nothing while the server is away, and sends each mail once when it is back", async () => {
  const port = await freePort();
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: `smtp://127.0.0.1:${port}` });
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => world.queue({ to: `person${n}@example.org` })));
  for (const [index, waitMs] of retryWaitsMs.slice(0, 3).entries()) {
    await until(async () => {
      expect(await world.countWith("queued", index + 1)).toBe(20);
      expect(new Set((await world.db.many`select last_error from mails`).map((row) => row.last_error))).toEqual(
        new Set(["ESOCKET ECONNREFUSED CONN"]),
      );
      const waiting = await world.db.many<StoredMail>`select * from mails`;
      expect(waiting.every((mail) => mail.next_attempt_at.getTime() === clock.nowMs() + waitMs)).toBe(true);
    });
    if (index < 2) clock.advanceMs(waitMs);
  }
  const sink = await world.openSink({ port });
  clock.advanceMs(120_000);
  await until(async () => expect(await world.countWith("sent")).toBe(20));
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds.toSorted()).toEqual(ids.map((id) => `<${id}@vigil.example>`).toSorted());
});

test("the mail sender tries a greylisted mail again", async () => {
  let refusals = 0;
  const sink = await world.openSink({ atRecipient: () => (refusals++ === 0 ? { code: 451 } : undefined) });
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: sink.url });
  const id = await world.queue();
  await until(async () => expect((await world.stored(id)).last_error).toBe("EENVELOPE RCPT TO 451"));
  expect(await world.stored(id)).toMatchObject({ status: "queued", attempts: 1 });
  expect((await world.stored(id)).next_attempt_at).toEqual(new Date(start.getTime() + 10_000));
  clock.advanceMs(9999);
  await world.untilStatus(await world.queue(), "sent");
  expect((await world.stored(id)).attempts).toBe(1);
  clock.advanceMs(1);
  await world.untilStatus(id, "sent");
  expect(sink.raw).toHaveLength(2);
});

test("the mail sender fails at once when the recipient or the message is refused for good", async () => {
  const quoting = { code: 554, text: `5.7.1 listed: ${link}` };
  const sink = await world.openSink({
    atRecipient: (to) =>
      to.startsWith("nobody") ? { code: 550, text: "5.1.1 <nobody@example.org> unknown" } : undefined,
    atMessage: () => quoting,
  });
  await world.openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const nobody = await world.queue({ to: "nobody@example.org" });
  const filtered = await world.queue({ to: "somebody@example.org" });
  await world.untilStatus(nobody, "failed");
  await world.untilStatus(filtered, "failed");
  expect(await world.stored(nobody)).toMatchObject({
    attempts: 1,
    params: null,
    last_error: "EENVELOPE RCPT TO 550 5.1.1",
    finished_at: start,
  });
  expect(await world.stored(filtered)).toMatchObject({
    attempts: 1,
    params: null,
    last_error: "EMESSAGE DATA 554 5.7.1",
  });
});

test("the mail sender keeps trying while the server wants a login that is not configured", async () => {
  const sink = await world.openSink({ atRecipient: () => ({ code: 530 }) });
  await world.openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const id = await world.queue();
  await until(async () => expect((await world.stored(id)).last_error).toBe("EENVELOPE RCPT TO 530"));
  expect((await world.stored(id)).status).toBe("queued");
});

test("the mail sender gives up after a day and forgets the link", async () => {
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: `smtp://127.0.0.1:${await freePort()}` });
  const id = await world.queue();
  for (const [index, waitMs] of retryWaitsMs.entries()) {
    await until(async () => {
      const mail = await world.stored(id);
      expect(mail).toMatchObject({ status: "queued", attempts: index + 1 });
      expect(mail.next_attempt_at.getTime()).toBe(clock.nowMs() + waitMs);
    });
    clock.advanceMs(waitMs);
  }
  await world.untilStatus(id, "failed");
  expect(await world.stored(id)).toMatchObject({
    params: null,
    attempts: retryWaitsMs.length + 1,
    finished_at: clock.now(),
  });
});

test("the mail sender ends a delivery that the server draws out, and goes on with the next", async () => {
  const sockets = new Set<Socket>();
  const trickling = createServer((socket) => {
    const timer = setInterval(() => socket.write("220-wait\r\n"), 20);
    socket.on("error", () => undefined).on("close", () => clearInterval(timer));
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => trickling.listen(0, "127.0.0.1", resolve));
  const { port } = trickling.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => trickling.close(resolve));
  };
  const carrier = makeSmtpCarrier({ url: `smtp://127.0.0.1:${port}`, connections: 2, limitMs: 300 });
  const message = { from: "a@example.org", to: "b@example.org", text: "hello" };
  const claim = { id: newUuid(), attempt: 1 };
  try {
    await expect(carrier.deliver(message, claim)).rejects.toThrow("took too long");
  } finally {
    await stop();
  }
  const sink = await world.openSink({ port });
  await carrier.deliver(message, claim);
  carrier.close();
  expect(sink.raw).toHaveLength(1);
});
