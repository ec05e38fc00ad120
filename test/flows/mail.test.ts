import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import { type Clock, makeClock, makeManualClock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { claimMails, enqueueMail, finishMail, postponeMail } from "../../src/mail/mail-outbox.ts";
import { retryWaitsMs } from "../../src/mail/mail-retry.ts";
import { type MailSender, startMailSender } from "../../src/mail/mail-sender.ts";
import { type MailKind, mailKinds, mailLanguages } from "../../src/mail/mail-texts.ts";
import { makeSmtpCarrier } from "../../src/mail/smtp-carrier.ts";
import { createOrganization } from "../../src/resources/organizations/organization-store.ts";
import { cliActor } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const start = new Date("2026-03-01T08:15:30Z");
const token = "tOkEn-5ecret_1234567890";
const from = "Vigil Küche <no-reply@vigil.example>";

let database: TestDatabase;
let db: Database;
let organizationId: string;
let folder: string;
/** Closed after each test, the last one first. */
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  organizationId = newUuid();
  const settings = {
    name: "Cura è Più",
    slug: "cura",
    timezone: "Europe/Rome",
    defaultLocale: "it",
    features: [],
    perMinute: 600,
    perHour: 20_000,
  } as const;
  await db.transaction((tx) => createOrganization(tx, settings, cliActor(organizationId), start));
  folder = await mkdtemp(join(tmpdir(), "vigil-mail-"));
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await db.run`delete from mails`;
  await rm(folder, { recursive: true, force: true });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

interface Sink {
  url: string;
  raw: Buffer[];
  /** What was accepted, parsed, in the order of arrival. */
  mails(): Promise<Email[]>;
  close(): Promise<void>;
}

type Refusal = { code: number; text?: string } | undefined;

interface SinkOptions {
  port?: number;
  atRecipient?: (address: string) => Refusal;
  atMessage?: () => Refusal;
}

const smtpError = ({ code, text = "not now" }: { code: number; text?: string }): Error =>
  Object.assign(new Error(text), { responseCode: code });

async function openSink({ port = 0, atRecipient, atMessage }: SinkOptions = {}): Promise<Sink> {
  const raw: Buffer[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, done) => {
      const refusal = atRecipient?.(address);
      done(refusal ? smtpError(refusal) : null);
    },
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const refusal = atMessage?.();
        if (refusal) return done(smtpError(refusal));
        raw.push(Buffer.concat(chunks));
        done();
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.server.address() as AddressInfo;
  const close = (): Promise<void> => new Promise((resolve) => server.close(resolve));
  opened.push(close);
  return {
    url: `smtp://127.0.0.1:${bound}`,
    raw,
    mails: () => Promise.all(raw.map((bytes) => PostalMime.parse(bytes))),
    close,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface SenderSetup {
  clock: Clock;
  smtpUrl?: string | undefined;
  db?: Database;
  /** Without it the sender is woken by notifications alone. */
  pollMs?: number;
  logLines?: string[];
}

async function openSender({ clock, smtpUrl, db: given = db, pollMs = 20, logLines }: SenderSetup): Promise<MailSender> {
  const log = logLines
    ? pino({ level: "trace" }, new Writable({ write: (line, _, done) => done(void logLines.push(String(line))) }))
    : makeLogger("silent");
  const listener = new Listener(db, log);
  const sender = startMailSender({
    db: given,
    clock,
    log,
    listener,
    metrics: new Metrics(),
    smtpUrl,
    from,
    folder,
    pollMs,
  });
  await listener.start();
  opened.push(
    () => listener.close(),
    () => sender.close(),
  );
  return sender;
}

interface QueueOptions {
  to?: string;
  kind?: MailKind;
  locale?: string;
  params?: Record<string, string>;
  now?: Date;
}

function queue(options: QueueOptions = {}): Promise<string> {
  const { to = "ada@example.org", kind = "share_invitation", locale = "it", now = start } = options;
  const params = {
    organization_name: "Cura è Più",
    link: `https://vigil.example/console/accept?token=${token}`,
    ...options.params,
  };
  return db.transaction((tx) => enqueueMail(tx, { organizationId, to, locale, kind, params, now }));
}

interface StoredMail {
  status: string;
  attempts: number;
  params: unknown;
  last_error: string | null;
  next_attempt_at: Date;
  finished_at: Date | null;
}

const stored = (id: string): Promise<StoredMail> => db.one<StoredMail>`select * from mails where id = ${id}`;

const countWith = async (status: string, attempts = 0): Promise<number> =>
  (
    await db.one<{ count: number }>`
      select count(*) as count from mails where status = ${status} and attempts >= ${attempts}`
  ).count;

const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 10_000, interval: 20 });

const untilStatus = (id: string, status: string): Promise<unknown> =>
  until(async () => expect((await stored(id)).status).toBe(status));

test("every kind in every language reads back intact", async () => {
  const sink = await openSink();
  await openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const ids = new Map<string, { kind: MailKind; locale: string }>();
  for (const locale of [...mailLanguages, "pt-BR"]) {
    for (const kind of mailKinds) {
      const id = await queue({
        kind,
        locale,
        to: `${locale}.${kind}@example.org`,
        params: {
          organization_name: "Cura è Più & Söhne <GmbH>",
          device_name: "Orologio di José “12”",
          inviter_name: "Zoë Müller",
          expires_at: "2026-03-08T08:15:30.123Z",
          timezone: "Europe/Rome",
        },
      });
      ids.set(id, { kind, locale });
    }
  }
  await until(async () => expect(await countWith("sent")).toBe(ids.size));
  const mails = await sink.mails();
  expect(mails).toHaveLength(ids.size);
  for (const mail of mails) {
    const id = /^<(.+)@vigil\.example>$/.exec(mail.messageId ?? "")?.[1] ?? "";
    const { kind, locale } = ids.get(id)!;
    const language = locale === "pt-BR" ? "en" : locale;
    const header = (key: string): string | undefined => mail.headers.find((entry) => entry.key === key)?.value;
    expect(mail.from).toMatchObject({ name: "Vigil Küche", address: "no-reply@vigil.example" });
    expect(mail.to).toEqual([{ name: "", address: `${locale}.${kind}@example.org` }]);
    expect(new Date(mail.date!)).toEqual(start);
    expect(header("auto-submitted")).toBe("auto-generated");
    expect(header("content-language")).toBe(language);
    expect(mail.subject).toContain("Cura è Più & Söhne <GmbH>");
    expect(mail.subject!.length).toBeLessThan(80);
    const link = `https://vigil.example/console/accept?token=${token}`;
    expect(mail.text).toContain(link);
    expect(mail.text).toContain("Cura è Più & Söhne <GmbH>");
    expect(mail.html).toContain(`<html lang="${language}">`);
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.html).toContain(`>${link}</a>`);
    expect(mail.html).toContain("Cura è Più &amp; Söhne &lt;GmbH&gt;");
    expect(mail.html).not.toMatch(/<img|<GmbH|src=|http:/);
    if (kind === "share_invitation") expect(mail.text).toContain("Orologio di José “12”");
    if (kind !== "portal_activation") expect(mail.text).toContain("Zoë Müller");
  }
  const bodyOf = (kind: MailKind, locale: string): string =>
    mails.find((mail) => mail.to?.[0]?.address === `${locale}.${kind}@example.org`)!.text!.replaceAll("\r\n", "\n");
  expect(bodyOf("member_invitation", "it")).toContain("Zoë Müller La invita a far parte di Cura è Più");
  expect(bodyOf("member_invitation", "it")).toContain("8 marzo 2026 alle ore 09:15 CET");
  expect(bodyOf("portal_activation", "de")).toContain("Für Sie wurde ein Konto bei Cura è Più");
  expect(bodyOf("portal_activation", "fr")).toContain("Un compte a été créé pour vous");
  expect(bodyOf("share_invitation", "es")).toContain("el dispositivo «Orologio di José “12”»");
  expect(bodyOf("share_invitation", "en")).toContain("valid until 8 March 2026 at 09:15 CET");
});

test("line breaks in a name begin no header", async () => {
  const sink = await openSink();
  await openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const organizationName = "Care\r\nBcc: thief@example.org\r\n\r\n<b>Co</b>\u2028\u202e!";
  const id = await queue({ locale: "en", params: { organization_name: organizationName, device_name: "A\nB" } });
  await untilStatus(id, "sent");
  const [mail] = await sink.mails();
  expect(mail?.subject).toBe("Care Bcc: thief@example.org <b>Co</b> ! has shared a device with you");
  expect(mail?.bcc ?? []).toEqual([]);
  expect(mail?.text).toContain("the device “A B”");
  expect(mail?.html).toContain("&lt;b&gt;Co&lt;/b&gt;");
});

test("a notification wakes the sender, and a rolled back mail is never sent", async () => {
  const sink = await openSink();
  await openSender({ clock: makeClock(), smtpUrl: sink.url, pollMs: 60_000 });
  await expect(
    db.transaction(async (tx) => {
      const mail = { to: "no@example.org", locale: "en", kind: "share_invitation", now: start } as const;
      await enqueueMail(tx, { ...mail, organizationId, params: { link: "https://vigil.example/" } });
      throw new Error("undone");
    }),
  ).rejects.toThrow("undone");
  const id = await queue();
  await untilStatus(id, "sent");
  expect(sink.raw).toHaveLength(1);
});

test("forgets the link once the mail is sent, and never logs it", async () => {
  const sink = await openSink({ atRecipient: (to) => (to.startsWith("bad") ? { code: 550 } : undefined) });
  const logLines: string[] = [];
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: sink.url, logLines });
  const id = await queue();
  expect(JSON.stringify((await stored(id)).params)).toContain(token);
  const bad = await queue({ to: "bad@example.org" });
  await untilStatus(id, "sent");
  await untilStatus(bad, "failed");
  expect(await stored(id)).toMatchObject({ params: null, attempts: 1, last_error: null, finished_at: start });
  await until(() => expect(logLines.join("")).toContain("mail sent"));
  const log = logLines.join("");
  expect(log).toContain(id);
  expect(log).not.toMatch(/tOkEn|example\.org|accept|Cura/);
});

test("loses nothing while the server is away, and sends each mail once when it is back", async () => {
  const port = await freePort();
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: `smtp://127.0.0.1:${port}` });
  const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => queue({ to: `person${n}@example.org` })));
  for (const [index, waitMs] of retryWaitsMs.slice(0, 3).entries()) {
    await until(async () => {
      expect(await countWith("queued", index + 1)).toBe(20);
      expect(new Set((await db.many`select last_error from mails`).map((row) => row.last_error))).toEqual(
        new Set(["ESOCKET ECONNREFUSED CONN"]),
      );
      const waiting = await db.many<StoredMail>`select * from mails`;
      expect(waiting.every((mail) => mail.next_attempt_at.getTime() === clock.nowMs() + waitMs)).toBe(true);
    });
    if (index < 2) clock.advanceMs(waitMs);
  }
  const sink = await openSink({ port });
  clock.advanceMs(120_000);
  await until(async () => expect(await countWith("sent")).toBe(20));
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds.toSorted()).toEqual(ids.map((id) => `<${id}@vigil.example>`).toSorted());
});

test("tries a greylisted mail again", async () => {
  let refusals = 0;
  const sink = await openSink({ atRecipient: () => (refusals++ === 0 ? { code: 451 } : undefined) });
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: sink.url });
  const id = await queue();
  await until(async () => expect((await stored(id)).last_error).toBe("EENVELOPE RCPT TO 451"));
  expect(await stored(id)).toMatchObject({ status: "queued", attempts: 1 });
  expect((await stored(id)).next_attempt_at).toEqual(new Date(start.getTime() + 10_000));
  clock.advanceMs(9999);
  await untilStatus(await queue(), "sent");
  expect((await stored(id)).attempts).toBe(1);
  clock.advanceMs(1);
  await untilStatus(id, "sent");
  expect(sink.raw).toHaveLength(2);
});

test("fails at once when the recipient or the message is refused for good", async () => {
  const quoting = { code: 554, text: `5.7.1 listed: https://vigil.example/console/accept?token=${token}` };
  const sink = await openSink({
    atRecipient: (to) =>
      to.startsWith("nobody") ? { code: 550, text: "5.1.1 <nobody@example.org> unknown" } : undefined,
    atMessage: () => quoting,
  });
  await openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const nobody = await queue({ to: "nobody@example.org" });
  const filtered = await queue({ to: "somebody@example.org" });
  await untilStatus(nobody, "failed");
  await untilStatus(filtered, "failed");
  expect(await stored(nobody)).toMatchObject({
    attempts: 1,
    params: null,
    last_error: "EENVELOPE RCPT TO 550 5.1.1",
    finished_at: start,
  });
  expect(await stored(filtered)).toMatchObject({ attempts: 1, params: null, last_error: "EMESSAGE DATA 554 5.7.1" });
});

test("keeps trying while the server wants a login that is not configured", async () => {
  const sink = await openSink({ atRecipient: () => ({ code: 530 }) });
  await openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const id = await queue();
  await until(async () => expect((await stored(id)).last_error).toBe("EENVELOPE RCPT TO 530"));
  expect((await stored(id)).status).toBe("queued");
});

test("gives up after a day and forgets the link", async () => {
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: `smtp://127.0.0.1:${await freePort()}` });
  const id = await queue();
  for (const [index, waitMs] of retryWaitsMs.entries()) {
    await until(async () => {
      const mail = await stored(id);
      expect(mail).toMatchObject({ status: "queued", attempts: index + 1 });
      expect(mail.next_attempt_at.getTime()).toBe(clock.nowMs() + waitMs);
    });
    clock.advanceMs(waitMs);
  }
  await untilStatus(id, "failed");
  expect(await stored(id)).toMatchObject({ params: null, attempts: retryWaitsMs.length + 1, finished_at: clock.now() });
});

test("two senders send each mail once", async () => {
  const sink = await openSink();
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: sink.url, pollMs: 5 });
  await openSender({ clock, smtpUrl: sink.url, pollMs: 5 });
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => queue({ to: `person${n}@example.org` })));
  await until(async () => expect(await countWith("sent")).toBe(100));
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds.toSorted()).toEqual(ids.map((id) => `<${id}@vigil.example>`).toSorted());
  expect(await countWith("sent", 2)).toBe(0);
});

test("a mail of a sender that died after sending is sent again after the lease, with the same Message-ID", async () => {
  const sink = await openSink();
  const clock = makeManualClock(start);
  // It sends, and can never write down that it did.
  const mute: Database = { ...db, run: () => Promise.reject(new Error("killed")) };
  const dying = await openSender({ clock, smtpUrl: sink.url, db: mute });
  const id = await queue();
  await until(() => expect(sink.raw).toHaveLength(1));
  await dying.close();
  expect(await stored(id)).toMatchObject({ status: "queued", attempts: 1 });

  await openSender({ clock, smtpUrl: sink.url });
  clock.advanceMs(59_999);
  const other = await queue();
  await untilStatus(other, "sent");
  expect((await stored(id)).attempts).toBe(1);
  clock.advanceMs(1);
  await untilStatus(id, "sent");
  const messageIds = (await sink.mails()).map((mail) => mail.messageId);
  expect(messageIds).toEqual([id, other, id].map((each) => `<${each}@vigil.example>`));
  expect(await stored(id)).toMatchObject({ attempts: 2, params: null });
});

test("waits out a short absence of the database instead of sending twice", async () => {
  const sink = await openSink();
  let failures = 0;
  const flaky: Database = {
    ...db,
    run: (...statement) => (failures++ < 2 ? Promise.reject(new Error("gone")) : db.run(...statement)),
  };
  const clock = makeManualClock(start);
  await openSender({ clock, smtpUrl: sink.url, db: flaky });
  const id = await queue();
  await untilStatus(id, "sent");
  expect(await stored(id)).toMatchObject({ attempts: 1 });
  expect(sink.raw).toHaveLength(1);
});

test("a sender that lost its lease may report a success but not a failure", async () => {
  const claim = { leaseMs: 60_000, limit: 5 };
  const id = await queue();
  const [first] = await claimMails(db, { ...claim, now: start });
  expect(await claimMails(db, { ...claim, now: new Date(start.getTime() + 59_999) })).toEqual([]);
  const later = new Date(start.getTime() + 60_000);
  const [second] = await claimMails(db, { ...claim, now: later });
  expect([first?.attempts, second?.attempts]).toEqual([1, 2]);
  expect(await postponeMail(db, first!, { until: start, error: "late" })).toBe(0);
  expect(await finishMail(db, first!, later)).toBe(1);
  expect(await postponeMail(db, second!, { until: start, error: "late" })).toBe(0);
  expect((await stored(id)).status).toBe("sent");
});

test("ends a delivery that the server draws out, and goes on with the next", async () => {
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
  const sink = await openSink({ port });
  await carrier.deliver(message, claim);
  carrier.close();
  expect(sink.raw).toHaveLength(1);
});

test("closing sends what is under way and leaves the rest", async () => {
  const sink = await openSink();
  const sender = await openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  await Promise.all(Array.from({ length: 30 }, () => queue()));
  await sender.close();
  const sent = await countWith("sent");
  expect(sink.raw).toHaveLength(sent);
  expect(await countWith("queued")).toBe(30 - sent);
  expect(await countWith("queued", 1)).toBe(0);
});

test("without a server each mail is one file that only the owner may read", async () => {
  const clock = makeManualClock(start);
  await openSender({ clock });
  const id = await queue({ locale: "fr" });
  await untilStatus(id, "sent");
  expect(await readdir(folder)).toEqual([`${id}.eml`]);
  const file = join(folder, `${id}.eml`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const mail = await PostalMime.parse(await readFile(file));
  expect(mail.messageId).toBe(`<${id}@vigil.example>`);
  // As it is, to be copied from the file.
  expect(await readFile(file, "utf8")).toContain(`\r\nhttps://vigil.example/console/accept?token=${token}\r\n`);
  expect(mail.subject).toBe("Cura è Più a partagé un appareil avec vous");
  expect(mail.text).toContain(`https://vigil.example/console/accept?token=${token}`);
  expect(await stored(id)).toMatchObject({ params: null, attempts: 1 });
});

test("a file written twice stays one, and what a killed sender left half written goes", async () => {
  const clock = makeManualClock(start);
  const mute: Database = { ...db, run: () => Promise.reject(new Error("killed")) };
  const dying = await openSender({ clock, db: mute });
  const id = await queue();
  await until(async () => expect(await readdir(folder)).toEqual([`${id}.eml`]));
  await dying.close();
  await writeFile(join(folder, `.${id}.1.tmp`), "From: half");
  await openSender({ clock });
  clock.advanceMs(60_000);
  await untilStatus(id, "sent");
  expect(await readdir(folder)).toEqual([`${id}.eml`]);
});

test("keeps a mail whose folder cannot be written", async () => {
  await writeFile(folder, "in the way");
  const clock = makeManualClock(start);
  await openSender({ clock });
  const id = await queue();
  await until(async () => expect((await stored(id)).last_error).toBe("EEXIST"));
  await rm(folder);
  clock.advanceMs(10_000);
  await untilStatus(id, "sent");
  expect(await readdir(folder)).toEqual([`${id}.eml`]);
});

test("refuses to start with a sender that is no address", async () => {
  const listener = new Listener(db, makeLogger("silent"));
  const options = { db, clock: makeClock(), log: makeLogger("silent"), listener, metrics: new Metrics(), folder };
  for (const bad of ["", "vigil", "a@example.org, b@example.org", "Vigil <>"]) {
    expect(() => startMailSender({ ...options, smtpUrl: undefined, from: bad })).toThrow("the sender of mails");
  }
});
