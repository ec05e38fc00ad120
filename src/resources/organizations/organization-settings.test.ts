import { expect, test } from "vitest";
import { isSlug, parseLanguage, parseLocale, parseTimezone, slugFromName } from "./organization-settings.ts";

test.each([
  ["Care Co", "care-co"],
  ["  Cåre & Co.  ", "care-and-co"],
  ["Straße Łódź Ærø", "strasse-lodz-aero"],
  ["L'Ospedale — Nord", "lospedale-nord"],
  ["Müller GmbH", "muller-gmbh"],
  ["東京", undefined],
  ["!!!", undefined],
  ["x".repeat(60), "x".repeat(50)],
  [`${"x".repeat(49)} y`, "x".repeat(49)],
])("an organization setting makes the slug of %j", (name, slug) => {
  expect(slugFromName(name)).toBe(slug);
});

test("an organization setting knows a slug", () => {
  expect(["care-co", "a", "0-1"].every(isSlug)).toBe(true);
  expect(["", "Care", "-a", "a-", "a--b", "a_b", "x".repeat(51)].some(isSlug)).toBe(false);
});

test("an organization setting takes the language of a locale", () => {
  expect(["it", "it-IT", "IT_it", "de-AT", "es-419"].map(parseLocale)).toEqual(["it", "it", "it", "de", "es"]);
  expect(["pt", "", "italiano", "en US"].map(parseLocale)).toEqual([undefined, undefined, undefined, undefined]);
});

test("an organization setting knows languages that it does not speak", () => {
  expect(["pt", "PT-br", "nl_NL", "it"].map(parseLanguage)).toEqual(["pt", "pt", "nl", "it"]);
  expect(["xx", "", "italiano", "en US", "-"].map(parseLanguage)).toEqual(Array(5).fill(undefined));
});

test("an organization setting takes IANA time zones only", () => {
  expect(["Europe/Rome", "europe/rome", "UTC", "Asia/Kolkata"].map(parseTimezone)).toEqual([
    "Europe/Rome",
    "Europe/Rome",
    "UTC",
    "Asia/Kolkata",
  ]);
  expect(["Rome", "+01:00", "", "Europe/Rom"].map(parseTimezone)).toEqual([undefined, undefined, undefined, undefined]);
});
