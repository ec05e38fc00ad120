import { makeStore } from "../state/store.ts";

export const locales = ["en", "it", "de", "fr", "es"] as const;
export type Locale = (typeof locales)[number];

/** The names of the languages, each in itself. */
export const localeNames: Readonly<Record<Locale, string>> = {
  en: "English",
  it: "Italiano",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
};

export const locale = makeStore<Locale>("en");

const find = (tag: string | null | undefined): Locale | undefined =>
  locales.find((one) => tag?.toLowerCase().split(/[-_]/)[0] === one);

export const isLocale = (text: string): text is Locale => locales.some((one) => one === text);

/** The person's choice, else the browser's, else the one that the page came with, which is the organization's. */
export function chooseLocale(chosen: string | null): void {
  const fromBrowser = navigator.languages.map(find).find((one) => one !== undefined);
  const wanted = find(chosen) ?? fromBrowser ?? find(document.documentElement.lang) ?? "en";
  document.documentElement.lang = wanted;
  locale.set(wanted);
}
