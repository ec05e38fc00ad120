import { describe, expect, it } from "vitest";
import { preferredLocale } from "./page-locale.ts";

describe("the language of a page", () => {
  it.each([
    [undefined, "en"],
    ["", "en"],
    ["de", "de"],
    ["de-CH, fr;q=0.9", "de"],
    ["pt-BR, fr;q=0.4, es;q=0.8", "es"],
    ["it;q=0, fr;q=0.1", "fr"],
    ["*, xx;q=1, ;;;", "en"],
    ["fr;q=x, es;q=0.1", "es"],
  ])("%s is %s", (header, locale) => {
    expect(preferredLocale(header)).toBe(locale);
  });
});
