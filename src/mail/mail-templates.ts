import { escapeHtml } from "../lib/html.ts";
import { alarmWord } from "./alarm-words.ts";
import {
  type MailLanguage,
  type MailNames,
  type MailTexts,
  mailKinds,
  mailLanguages,
  mailTexts,
} from "./mail-texts.ts";

/** What a kind of mail is filled with. Names may hold anything: line breaks and control characters are taken out here. */
export interface MailParams {
  organization_name: string;
  /** Absolute http(s) address with the token. */
  link: string;
  device_name?: string;
  inviter_name?: string;
  /** RFC 3339; shown in the language of the mail, in `timezone` or else in UTC. */
  expires_at?: string;
  timezone?: string;
  /** Of an alarm: its event type, when it happened, and whether it is the last mail of the hour. */
  event_type?: string;
  happened_at?: string;
  is_last?: string;
  /** Of a webhook: its integration, the host it is sent to, and why the last attempt failed. */
  integration_name?: string;
  webhook_host?: string;
  reason?: string;
}

export interface RenderedMail {
  language: MailLanguage;
  subject: string;
  text: string;
  html: string;
}

const maxSubjectNameLength = 60;
const maxDeviceInSubject = 40;

/** The mail in the language of the locale (`it`, `it-IT`, `it_IT`), in English for any other. */
export function renderMail(kind: string, locale: string, params: Readonly<Record<string, string>>): RenderedMail {
  const known = mailKinds.find((name) => name === kind);
  if (!known) throw new Error(`unknown kind of mail ${kind}`);
  const given = params as Partial<MailParams>;
  const { organization_name, link, device_name, inviter_name, expires_at, timezone, happened_at } = given;
  const language = languageOf(locale);
  const texts = mailTexts[language];
  const names: MailNames = {
    organization: optionalLine(organization_name) ?? "Vigil",
    device: optionalLine(device_name),
    inviter: optionalLine(inviter_name),
    alarm: alarmWord(language, given.event_type),
    time: happened_at === undefined ? undefined : formatTime(happened_at, timezone, texts.dateLocale),
    isLast: given.is_last === "true",
    integration: optionalLine(given.integration_name),
    host: optionalLine(given.webhook_host),
    reason: optionalLine(given.reason),
  };
  const device = names.device && shorten(names.device, maxDeviceInSubject);
  const integration = names.integration && shorten(names.integration, maxDeviceInSubject);
  const parts: MailParts = {
    subject: texts[known].subject(shorten(names.organization, maxSubjectNameLength), { ...names, device, integration }),
    paragraphs: texts[known].paragraphs(names),
    action: texts[known].action,
    link: webLink(link),
    expires: expires_at === undefined ? undefined : texts.expires(formatTime(expires_at, timezone, texts.dateLocale)),
    footer: texts.footer(names.organization),
  };
  return { language, subject: parts.subject, text: renderText(texts, parts), html: renderHtml(language, texts, parts) };
}

interface MailParts {
  subject: string;
  paragraphs: readonly string[];
  action: string;
  link: string;
  expires: string | undefined;
  footer: string;
}

const renderText = (texts: MailTexts, { paragraphs, action, link, expires, footer }: MailParts): string =>
  [
    texts.greeting,
    ...paragraphs,
    `${action}\n${link}`,
    ...(expires === undefined ? [] : [expires]),
    texts.unexpected,
    `-- \n${footer}\n`,
  ].join("\n\n");

function renderHtml(language: MailLanguage, texts: MailTexts, parts: MailParts): string {
  const paragraph = (text: string): string => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;
  const href = escapeHtml(parts.link);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(parts.subject)}</title>
</head>
<body style="margin:0;padding:24px;background:#ffffff;color:#1a1a1a;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:1.5">
<div role="article" style="max-width:600px;margin:0 auto">
<h1 style="margin:0 0 24px;font-size:20px;line-height:1.3">${escapeHtml(parts.subject)}</h1>
${[texts.greeting, ...parts.paragraphs].map(paragraph).join("\n")}
<p style="margin:24px 0"><a href="${href}" style="display:inline-block;padding:12px 20px;background:#0b5394;color:#ffffff;border-radius:4px;font-weight:bold;text-decoration:none">${escapeHtml(parts.action)}</a></p>
<p style="margin:0 0 16px">${escapeHtml(texts.linkHint)}<br><a href="${href}" style="color:#0b5394;word-break:break-all">${href}</a></p>
${[...(parts.expires === undefined ? [] : [parts.expires]), texts.unexpected].map(paragraph).join("\n")}
<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid #cccccc;font-size:14px;color:#595959">${escapeHtml(parts.footer)}</p>
</div>
</body>
</html>
`;
}

const languageOf = (locale: string): MailLanguage => {
  const wanted = locale.split(/[-_]/)[0]?.toLowerCase();
  return mailLanguages.find((language) => language === wanted) ?? "en";
};

/** One line of text: no line breaks, which would begin a header, no control characters, none that turn the writing direction. */
const singleLine = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .trim();

const optionalLine = (text: string | undefined): string | undefined => singleLine(text ?? "") || undefined;

const shorten = (text: string, maxLength: number): string => {
  const characters = [...text];
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join("")}…`;
};

function webLink(text: string | undefined): string {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  // The message must not repeat the link: it ends up in the log.
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error("the link of a mail is not an http(s) address");
  return url.href;
}

function formatTime(text: string, timezone: string | undefined, locale: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return singleLine(text);
  return new Intl.DateTimeFormat(locale, {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: timezone ?? "UTC",
    timeZoneName: "short",
  }).format(time);
}
