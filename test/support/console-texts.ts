import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export type Language = "en" | "it" | "de" | "fr" | "es";
export const languages: readonly Language[] = ["en", "it", "de", "fr", "es"];

const folder = resolve(import.meta.dirname, "../../web/texts");

/** The texts of the console as they are written, by language: each list has the same order in every language. */
function readTexts(): Record<Language, string[]> {
  const texts: Record<Language, string[]> = { en: [], it: [], de: [], fr: [], es: [] };
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    let language: Language | undefined;
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      const start = /^ {2}(en|it|de|fr|es): \{$/.exec(line)?.[1] as Language | undefined;
      if (start) language = start;
      else if (/^ {2}\}/.test(line)) language = undefined;
      const text = /^ {4}"?[\w.]+"?: ("(?:[^"\\]|\\.)*"),?$/.exec(line)?.[1];
      if (language && text) texts[language].push(JSON.parse(text) as string);
    }
  }
  return texts;
}

/** English words that a page in another language must not show: they have a translation that is another word. */
export function foreignWords(): (language: Language) => Set<string> {
  const texts = readTexts();
  return (language) => {
    const own = new Set(texts[language]);
    return new Set(language === "en" ? [] : texts.en.filter((text) => !own.has(text) && !text.includes("{")));
  };
}

/** How many texts each language has; they must agree. */
export const countTexts = (): number[] => Object.values(readTexts()).map(({ length }) => length);
