import { describe, expect, it } from "vitest";
import { isAllowedLink, linkWithToken } from "./invitation-link.ts";

describe("isAllowedLink", () => {
  const hosts = ["App.Partner.example", "dev.partner.example:8443", "bücher.example"];

  it.each([
    "https://app.partner.example/accept",
    "https://APP.partner.EXAMPLE",
    "HTTPS://app.partner.example:443/accept?a=1#b",
    "https://dev.partner.example:8443/x",
    "https://xn--bcher-kva.example/",
  ])("takes %s", (link) => expect(isAllowedLink(link, hosts)).toBe(true));

  it.each([
    "http://app.partner.example/accept",
    "https://app.partner.example:8443/accept",
    "https://dev.partner.example/x",
    "https://evil.example/",
    "https://app.partner.example.evil.example/",
    "https://app.partner.example@evil.example/",
    "https://user@app.partner.example/",
    "https:app.partner.example",
    "//app.partner.example/accept",
    "app.partner.example",
    "javascript:alert(1)",
    "https://",
    "",
    "no address",
  ])("refuses %s", (link) => expect(isAllowedLink(link, hosts)).toBe(false));

  it("takes nothing without a list", () => expect(isAllowedLink("https://app.partner.example/", [])).toBe(false));
});

describe("linkWithToken", () => {
  it.each([
    ["https://a.example/accept", "https://a.example/accept?token=T"],
    ["https://a.example", "https://a.example/?token=T"],
    ["https://a.example/?x=a%20b&y=1", "https://a.example/?x=a%20b&y=1&token=T"],
    ["https://a.example/?token=old&x=1", "https://a.example/?x=1&token=T"],
    ["https://a.example/p?x=1#/route", "https://a.example/p?x=1&token=T#/route"],
  ])("%s becomes %s", (base, link) => expect(linkWithToken(base, "T")).toBe(link));
});
