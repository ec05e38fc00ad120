import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../db/database.ts";
import { JobLane } from "../db/job-lane.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";
import { nextAttemptAt, retryForADay } from "../lib/retry.ts";
import { makeFolderCarrier } from "./folder-carrier.ts";
import { type DeliveryOutcome, type MailCarrier, outcomeOfFailure } from "./mail-carrier.ts";
import { type Mailbox, makeMessage, parseSender } from "./mail-message.ts";
import { type ClaimedMail, finishMail, giveUpMail, mailChannel, mailJobs, postponeMail } from "./mail-outbox.ts";
import { makeSmtpCarrier } from "./smtp-carrier.ts";

const maxInFlight = 5;
const maxPerOrganization = 4;
export const mailRetries = retryForADay(30);
// An attempt and the writing of its result fit into the lease, so that nobody else takes the mail meanwhile.
const leaseMs = 60_000;
const attemptLimitMs = 45_000;
const resultPausesMs = [200, 1000, 3000];
const closeGraceMs = 5000;

export interface MailSenderOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Not started yet: the sender names its channel. */
  listener: Listener;
  metrics: Metrics;
  /** Undefined: mails become files in the folder. */
  smtpUrl: string | undefined;
  from: string;
  folder: string;
  pollMs?: number;
}

export interface MailSender {
  /** Takes no more mails, gives those in progress a few seconds, and puts back the rest. */
  close(): Promise<void>;
}

/**
 * Sends the mails of the outbox. A notification wakes it, polling guarantees. Any number of processes may run one. The log gets
 * ids, kinds and codes, never an address, a text or a link.
 */
export function startMailSender(options: MailSenderOptions): MailSender {
  const { smtpUrl, folder } = options;
  const from = parseSender(options.from);
  const carrier =
    smtpUrl === undefined
      ? makeFolderCarrier(folder)
      : makeSmtpCarrier({ url: smtpUrl, connections: maxInFlight, limitMs: attemptLimitMs });
  return new Sender(options, from, carrier);
}

class Sender implements MailSender {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #from: Mailbox;
  readonly #carrier: MailCarrier;
  readonly #count: (outcome: "sent" | "retried" | "failed") => void;
  readonly #lane: JobLane<ClaimedMail>;

  constructor(
    { db, clock, log, listener, metrics, pollMs = 3000 }: MailSenderOptions,
    from: Mailbox,
    carrier: MailCarrier,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
    this.#from = from;
    this.#carrier = carrier;
    const mails = metrics.counter("vigil_mails_total", "Attempts to send a mail, by outcome.");
    this.#count = (outcome) => mails.add({ outcome });
    this.#lane = new JobLane<ClaimedMail>({
      name: "mail",
      ...{ db, clock, log, listener, pollMs, leaseMs, maxInFlight, maxPerOrganization },
      channel: mailChannel,
      jobs: mailJobs,
      run: (mail, closing) => this.#send(mail, closing),
    });
  }

  async close(): Promise<void> {
    const grace = setTimeout(() => this.#carrier.close(), closeGraceMs);
    await this.#lane.close();
    clearTimeout(grace);
    this.#carrier.close();
  }

  async #send(mail: ClaimedMail, closing: AbortSignal): Promise<void> {
    const outcome = await this.#deliver(mail);
    for (const pauseMs of resultPausesMs) {
      try {
        return await this.#store(mail, outcome);
      } catch {
        // Not stored means sent twice, so a short absence of the database is waited out.
        await sleep(pauseMs, undefined, { signal: closing }).catch(() => undefined);
      }
    }
    await this.#store(mail, outcome);
  }

  async #deliver(mail: ClaimedMail): Promise<DeliveryOutcome> {
    try {
      const message = makeMessage(mail, this.#from, this.#clock.now());
      await this.#carrier.deliver(message, { id: mail.id, attempt: mail.attempts });
      return { kind: "sent" };
    } catch (error) {
      return outcomeOfFailure(error);
    }
  }

  async #store(mail: ClaimedMail, outcome: DeliveryOutcome): Promise<void> {
    const now = this.#clock.now();
    const facts = { mail: mail.id, kind: mail.kind, attempt: mail.attempts };
    if (outcome.kind === "sent") {
      await finishMail(this.#db, mail, now);
      this.#count("sent");
      this.#log.info(facts, "mail sent");
      return;
    }
    const { error } = outcome;
    const until = outcome.kind === "refused" ? undefined : nextAttemptAt(mailRetries, mail, now);
    if (until) {
      await postponeMail(this.#db, mail, { until, error });
      this.#count("retried");
      this.#log.warn({ ...facts, error, until }, "mail not sent; it will be retried");
    } else {
      await giveUpMail(this.#db, mail, { now, error });
      this.#count("failed");
      this.#log.error({ ...facts, error }, "mail given up");
    }
  }
}
