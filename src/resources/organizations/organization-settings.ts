import { parseNetwork } from "../../lib/network-list.ts";
import { isZoneName } from "../../lib/zone-offset.ts";

/** The languages of mails and of the console. An organization may have another one, which only devices then see. */
export const locales = ["en", "it", "de", "fr", "es"] as const;
export type Locale = (typeof locales)[number];

export const organizationDefaults = { timezone: "UTC", defaultLocale: "en", perMinute: 600, perHour: 20_000 } as const;

/** A list like `10.0.0.0/8,fd00::/8`; undefined when a part of it is no network. */
export function parseNetworks(text: string): string[] | undefined {
  const networks = text.split(",").flatMap((part) => part.trim() || []);
  const parsed = networks.flatMap((network) => parseNetwork(network) ?? []);
  return parsed.length === networks.length ? parsed : undefined;
}

/** A list of mail domains like `care.example,home.example`; undefined when a part of it is none. */
export function parseDomains(text: string): string[] | undefined {
  const domains = text.split(",").flatMap((part) => part.trim().toLowerCase() || []);
  const isDomain = (domain: string): boolean => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/.test(domain);
  return domains.every(isDomain) ? [...new Set(domains)] : undefined;
}

/** The language of a locale like `it`, `it-IT` or `it_IT`, or undefined where there is no such language. */
export function parseLanguage(text: string): string | undefined {
  const language = /^([a-z]{2,3})([-_][a-z0-9]{1,8})*$/i.exec(text)?.[1]?.toLowerCase();
  if (language === undefined) return undefined;
  return new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(language) && language;
}

/** The same, or undefined for one that Vigil does not speak. */
export function parseLocale(text: string): Locale | undefined {
  const language = parseLanguage(text);
  return locales.find((locale) => locale === language);
}

/** The IANA name in its usual spelling, or undefined. Offsets like +01:00 are refused: they know no summer time. */
export function parseTimezone(text: string): string | undefined {
  if (!isZoneName(text)) return undefined;
  const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
  // An alias resolves to another name (Asia/Kolkata to Asia/Calcutta): then what was asked for is kept.
  return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
}

const maxSlugLength = 50;
/** Letters that Unicode does not decompose into a Latin letter and a mark. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ı: "i",
  "&": " and ",
};

export const isSlug = (text: string): boolean => text.length <= maxSlugLength && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text);

/** `Cåre & Co.` becomes `care-and-co`. Undefined when nothing of the name can be written in ASCII. */
export function slugFromName(name: string): string | undefined {
  const slug = name
    .toLowerCase()
    .replace(/[ßæœøđðþłı&]/g, (letter) => spelledOut[letter] ?? "")
    .normalize("NFKD")
    .replace(/[\p{Mark}'’]/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, maxSlugLength)
    .replace(/-+$/, "");
  return slug === "" ? undefined : slug;
}
