import { type Locale, locale } from "./locale.ts";

export type Values = Readonly<Record<string, string | number>>;

const isOne = (value: string | number | undefined): boolean =>
  new Intl.PluralRules(locale.get()).select(Number(value)) === "one";

/**
 * The texts of one part of the console in all languages; a language that lacks one does not compile. The result gives a text in
 * the language of the reader, with `{name}` replaced by the value of that name, and `{name|day|days}` by the form that fits that
 * number. The whole page is drawn again when it changes.
 */
export function defineTexts<K extends string>(
  texts: Readonly<Record<Locale, Readonly<Record<K, string>>>>,
): (key: K, values?: Values) => string {
  return (key, values = {}) =>
    texts[locale.get()][key].replace(
      /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g,
      (whole, name: string, one: string | undefined, other: string) =>
        one === undefined ? String(values[name] ?? whole) : isOne(values[name]) ? one : other,
    );
}
