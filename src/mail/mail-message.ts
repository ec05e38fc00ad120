import type { SendMailOptions } from "nodemailer";
import addressparser from "nodemailer/lib/addressparser";
import { normalizeEmail } from "../lib/email.ts";
import type { ClaimedMail } from "./mail-outbox.ts";
import { renderMail } from "./mail-templates.ts";

export interface Mailbox {
  name: string;
  address: string;
}

/** `address` or `Name <address>`. Throws for anything else, because no mail would ever leave. */
export function parseSender(text: string): Mailbox {
  const [only, ...more] = addressparser(text);
  const address = only?.address ?? "";
  if (!only || more.length > 0 || normalizeEmail(address) === undefined) {
    throw new Error(`the sender of mails must be an address or "Name <address>", not "${text}"`);
  }
  return { name: only.name, address };
}

/** The message as the transports take it. Its Message-ID is that of the mail, so that a second copy can be recognised. */
export function makeMessage(mail: ClaimedMail, from: Mailbox, now: Date): SendMailOptions {
  const { language, subject, text, html } = renderMail(mail.kind, mail.locale, mail.params);
  return {
    messageId: `<${mail.id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    date: now,
    from,
    // Not as text, which would be parsed as a list of addresses.
    to: { name: "", address: mail.to },
    subject,
    text,
    html,
    headers: { "Auto-Submitted": "auto-generated", "Content-Language": language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
