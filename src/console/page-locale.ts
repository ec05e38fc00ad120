import { type Locale, locales, parseLocale } from "../resources/organizations/organization-settings.ts";

/** The first language of an Accept-Language header, by weight, that the console speaks; English without one. */
export function preferredLocale(header: string | undefined): Locale {
  const preferences = (header ?? "")
    .slice(0, 500)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((text) => text.trim());
      const weight = Number(parameters.find((text) => text.startsWith("q="))?.slice(2) ?? "1");
      return { locale: parseLocale(tag), weight: Number.isNaN(weight) ? 0 : weight };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return preferences.find(({ locale }) => locale !== undefined)?.locale ?? locales[0];
}
