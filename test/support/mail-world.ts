import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer } from "smtp-server";
import { expect } from "vitest";
import { type Database, openDatabase } from "../../src/db/database.ts";
import { Listener } from "../../src/db/listener.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { enqueueMail } from "../../src/mail/mail-outbox.ts";
import { type MailSender, startMailSender } from "../../src/mail/mail-sender.ts";
import type { MailKind } from "../../src/mail/mail-texts.ts";
import { createOrganization } from "../../src/resources/organizations/organization-store.ts";
import { cliActor } from "./api.ts";
import { createTestDatabase } from "./database.ts";
import { logInto } from "./log-lines.ts";
import { until } from "./until.ts";

export const start = new Date("2026-03-01T08:15:30Z");
/** In the link of every mail. */
export const token = "tOkEn-5ecret_1234567890";
export const link = `https://vigil.example/console/accept?token=${token}`;

/** A mail server. */
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

interface SenderSetup {
  clock: Clock;
  smtpUrl?: string | undefined;
  db?: Database;
  /** Far away, the sender is woken by notifications alone. */
  pollMs?: number;
  logLines?: string[];
}

interface QueueOptions {
  to?: string;
  kind?: MailKind;
  locale?: string;
  params?: Record<string, string>;
}

export interface StoredMail {
  status: string;
  attempts: number;
  params: unknown;
  last_error: string | null;
  next_attempt_at: Date;
  finished_at: Date | null;
}

/** Mail senders and servers that take what they send, on one database. */
export interface MailWorld {
  db: Database;
  organizationId: string;
  /** Where mails go without a server. */
  folder: string;
  openSink(options?: SinkOptions): Promise<Sink>;
  openSender(setup: SenderSetup): Promise<MailSender>;
  /** Returns the id. */
  queue(options?: QueueOptions): Promise<string>;
  stored(id: string): Promise<StoredMail>;
  countWith(status: string, attempts?: number): Promise<number>;
  untilStatus(id: string, status: string): Promise<unknown>;
  /** Closes what a test has opened, and forgets all mails. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openMailWorld(): Promise<MailWorld> {
  const database = await createTestDatabase();
  const db = openDatabase({ connection: { connectionString: database.url }, log: makeLogger("silent") });
  const organizationId = newUuid();
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
  const folder = await mkdtemp(join(tmpdir(), "vigil-mail-"));
  const opened: (() => Promise<void>)[] = [];
  const stored = (id: string): Promise<StoredMail> => db.one<StoredMail>`select * from mails where id = ${id}`;

  return {
    db,
    organizationId,
    folder,
    openSink: async (options = {}) => {
      const sink = await openSink(options);
      opened.push(sink.close);
      return sink;
    },
    openSender: async ({ clock, smtpUrl, db: given = db, pollMs = 20, logLines }) => {
      const log = logInto(logLines);
      const listener = new Listener(db, log);
      const from = "Vigil Küche <no-reply@vigil.example>";
      const metrics = new Metrics();
      const sender = startMailSender({ db: given, clock, log, listener, metrics, smtpUrl, from, folder, pollMs });
      await listener.start();
      opened.push(
        () => listener.close(),
        () => sender.close(),
      );
      return sender;
    },
    queue: (options = {}) => {
      const { to = "ada@example.org", kind = "share_invitation", locale = "it" } = options;
      const params = { organization_name: "Cura è Più", link, ...options.params };
      return db.transaction((tx) => enqueueMail(tx, { organizationId, to, locale, kind, params, now: start }));
    },
    stored,
    countWith: async (status, attempts = 0) =>
      (
        await db.one<{ count: number }>`
          select count(*) as count from mails where status = ${status} and attempts >= ${attempts}`
      ).count,
    untilStatus: (id, status) => until(async () => expect((await stored(id)).status).toBe(status)),
    reset: async () => {
      for (const close of opened.splice(0).reverse()) await close();
      await db.run`delete from mails`;
      await rm(folder, { recursive: true, force: true });
    },
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

const smtpError = ({ code, text = "not now" }: { code: number; text?: string }): Error =>
  Object.assign(new Error(text), { responseCode: code });

async function openSink({ port = 0, atRecipient, atMessage }: SinkOptions): Promise<Sink> {
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
  return {
    url: `smtp://127.0.0.1:${bound}`,
    raw,
    mails: () => Promise.all(raw.map((bytes) => PostalMime.parse(bytes))),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
