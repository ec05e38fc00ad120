import { afterEach, describe, expect, it } from "vitest";
import { defineTexts } from "./define.ts";
import { locale } from "./locale.ts";

const same = { count: "{count} {count|day|days}", greeting: "For {name}" };
const texts = defineTexts({
  en: same,
  it: same,
  de: same,
  fr: { ...same, count: "{count} {count|jour|jours}" },
  es: same,
});

describe("a text", () => {
  afterEach(() => locale.set("en"));

  it("has the values of its names, and keeps a name without a value", () => {
    expect([texts("greeting", { name: "Anna" }), texts("greeting")]).toEqual(["For Anna", "For {name}"]);
  });

  it("has the form that fits the number, as the language counts", () => {
    expect([0, 1, 2, "1,200"].map((count) => texts("count", { count }))).toEqual([
      "0 days",
      "1 day",
      "2 days",
      "1,200 days",
    ]);
    locale.set("fr");
    expect([0, 1, 2].map((count) => texts("count", { count }))).toEqual(["0 jour", "1 jour", "2 jours"]);
  });
});
