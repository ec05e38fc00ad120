import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Listener } from "../../src/db/listener.ts";
import { makeClock, makeManualClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { enqueueMail } from "../../src/mail/mail-outbox.ts";
import { startMailSender } from "../../src/mail/mail-sender.ts";
import { type MailKind, mailKinds, mailLanguages } from "../../src/mail/mail-texts.ts";
import { link, type MailWorld, openMailWorld, start, token } from "../support/mail-world.ts";
import { until } from "../support/until.ts";

let world: MailWorld;
beforeAll(async () => {
  world = await openMailWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

test("every kind in every language reads back intact", async () => {
  const sink = await world.openSink();
  await world.openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const ids = new Map<string, { kind: MailKind; locale: string }>();
  for (const locale of [...mailLanguages, "pt-BR"]) {
    for (const kind of mailKinds) {
      const id = await world.queue({
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
  await until(async () => expect(await world.countWith("sent")).toBe(ids.size));
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
    expect(mail.text).toContain(link);
    expect(mail.text).toContain("Cura è Più & Söhne <GmbH>");
    expect(mail.html).toContain(`<html lang="${language}">`);
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.html).toContain(`>${link}</a>`);
    expect(mail.html).toContain("Cura è Più &amp; Söhne &lt;GmbH&gt;");
    expect(mail.html).not.toMatch(/<img|<GmbH|src=|http:/);
    if (kind === "share_invitation") expect(mail.text).toContain("Orologio di José “12”");
    if (kind === "share_invitation" || kind === "member_invitation") expect(mail.text).toContain("Zoë Müller");
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
  const sink = await world.openSink();
  await world.openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  const organizationName = "Care\r\nBcc: thief@example.org\r\n\r\n<b>Co</b>\u2028\u202e!";
  const id = await world.queue({ locale: "en", params: { organization_name: organizationName, device_name: "A\nB" } });
  await world.untilStatus(id, "sent");
  const [mail] = await sink.mails();
  expect(mail?.subject).toBe("Care Bcc: thief@example.org <b>Co</b> ! has shared a device with you");
  expect(mail?.bcc ?? []).toEqual([]);
  expect(mail?.text).toContain("the device “A B”");
  expect(mail?.html).toContain("&lt;b&gt;Co&lt;/b&gt;");
});

test("a notification wakes the sender, and a rolled back mail is never sent", async () => {
  const sink = await world.openSink();
  await world.openSender({ clock: makeClock(), smtpUrl: sink.url, pollMs: 60_000 });
  await expect(
    world.db.transaction(async (tx) => {
      const mail = { to: "no@example.org", locale: "en", kind: "share_invitation", now: start } as const;
      await enqueueMail(tx, {
        ...mail,
        organizationId: world.organizationId,
        params: { link: "https://vigil.example/" },
      });
      throw new Error("undone");
    }),
  ).rejects.toThrow("undone");
  const id = await world.queue();
  await world.untilStatus(id, "sent");
  expect(sink.raw).toHaveLength(1);
});

test("the mail sender forgets the link once the mail is sent, and never logs it", async () => {
  const sink = await world.openSink({ atRecipient: (to) => (to.startsWith("bad") ? { code: 550 } : undefined) });
  const logLines: string[] = [];
  const clock = makeManualClock(start);
  await world.openSender({ clock, smtpUrl: sink.url, logLines });
  const id = await world.queue();
  expect(JSON.stringify((await world.stored(id)).params)).toContain(token);
  const bad = await world.queue({ to: "bad@example.org" });
  await world.untilStatus(id, "sent");
  await world.untilStatus(bad, "failed");
  expect(await world.stored(id)).toMatchObject({ params: null, attempts: 1, last_error: null, finished_at: start });
  await until(() => expect(logLines.join("")).toContain("mail sent"));
  const log = logLines.join("");
  expect(log).toContain(id);
  expect(log).not.toMatch(/tOkEn|example\.org|accept|Cura/);
});

test("closing finishes the mail in progress and leaves the rest", async () => {
  const sink = await world.openSink();
  const sender = await world.openSender({ clock: makeManualClock(start), smtpUrl: sink.url });
  await Promise.all(Array.from({ length: 30 }, () => world.queue()));
  await sender.close();
  const sent = await world.countWith("sent");
  expect(sink.raw).toHaveLength(sent);
  expect(await world.countWith("queued")).toBe(30 - sent);
  expect(await world.countWith("queued", 1)).toBe(0);
});

test("the mail sender refuses to start with a sender that is no address", async () => {
  const listener = new Listener(world.db, makeLogger("silent"));
  const options = {
    db: world.db,
    clock: makeClock(),
    log: makeLogger("silent"),
    listener,
    metrics: new Metrics(),
    folder: world.folder,
  };
  for (const bad of ["", "vigil", "a@example.org, b@example.org", "Vigil <>"]) {
    expect(() => startMailSender({ ...options, smtpUrl: undefined, from: bad })).toThrow("the sender of mails");
  }
});
