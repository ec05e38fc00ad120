import { type Locale, locale } from "./locale.ts";

export type Values = Readonly<Record<string, string | number>>;

/**
 * The texts of one part of the console in all languages; a language that lacks one does not compile. The result gives a text in
 * the language of the reader, with `{name}` replaced by the value of that name. The whole page is drawn again when it changes.
 */
export function defineTexts<K extends string>(
  texts: Readonly<Record<Locale, Readonly<Record<K, string>>>>,
): (key: K, values?: Values) => string {
  return (key, values = {}) =>
    texts[locale.get()][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
