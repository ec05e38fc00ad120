import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export type Language = "en" | "it" | "de" | "fr" | "es";
export const languages: readonly Language[] = ["en", "it", "de", "fr", "es"];

const folder = resolve(import.meta.dirname, "../../web/texts");

/** The texts of the console as they are written, by language: each list has the same order in every language. */
function readTexts(): Record<Language, string[]> {
  const texts: Record<Language, string[]> = { en: [], it: [], de: [], fr: [], es: [] };
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    const source = readFileSync(join(folder, file), "utf8");
    for (const [, language, block] of source.matchAll(/^ {2}(en|it|de|fr|es): \{\n([\s\S]*?)^ {2}\}/gm)) {
      for (const [, text] of (block ?? "").matchAll(/^ {4}"?[\w.]+"?:\s+("(?:[^"\\]|\\.)*"),$/gm)) {
        texts[language as Language].push(JSON.parse(text as string) as string);
      }
    }
  }
  return texts;
}

/** English words that a page in another language must not show: they have a translation that is another word. */
export function foreignWords(language: Language): Set<string> {
  const texts = readTexts();
  const own = new Set(texts[language]);
  return new Set(language === "en" ? [] : texts.en.filter((text) => !own.has(text) && !text.includes("{")));
}

/** How many texts each language has; they must agree. */
export const countTexts = (): number[] => Object.values(readTexts()).map(({ length }) => length);
