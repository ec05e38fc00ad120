import { expect, test } from "vitest";
import { checkWebhookTarget, isAllowedAddress, type Resolve } from "./webhook-target.ts";

const nowhere: Resolve = async () => [];
const check = (url: string, allow: string[] = [], resolve: Resolve = nowhere) =>
  checkWebhookTarget(url, allow, resolve);

test.each([
  "127.0.0.1",
  "127.8.8.8",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "192.0.0.8",
  "192.0.2.1",
  "192.88.99.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1",
  "::ffff:10.0.0.1",
  "::ffff:0:10.0.0.1",
  "64:ff9b::808:808",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "2002:808:808::1",
  "3fff::1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "not an address",
])("the webhook check refuses the address %s", (address) => {
  expect(isAllowedAddress(address, [])).toBe(false);
});

test.each(["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"])(
  "the webhook check lets the public address %s pass",
  (address) => {
    expect(isAllowedAddress(address, [])).toBe(true);
  },
);

test("the webhook check lets the operator allow networks", () => {
  expect(isAllowedAddress("10.2.3.4", ["10.0.0.0/8"])).toBe(true);
  expect(isAllowedAddress("::ffff:10.2.3.4", ["10.0.0.0/8"])).toBe(true);
  expect(isAllowedAddress("192.168.1.1", ["10.0.0.0/8", "fd00::/8"])).toBe(false);
  expect(isAllowedAddress("fd00::1", ["10.0.0.0/8", "fd00::/8"])).toBe(true);
});

test.each([
  ["http://hooks.example/", "https"],
  ["ftp://hooks.example/", "https"],
  ["https:hooks.example/", "https://"],
  ["https:///user@hooks.example/", "https://"],
  ["https:\\\\hooks.example/", "https://"],
  ["hooks.example", "not a URL"],
  ["https://", "not a URL"],
  ["https://user@hooks.example/", "user name"],
  ["https://:pw@hooks.example/", "user name"],
  ["https://@hooks.example/", "user name"],
  ["https://hooks.example/#top", "fragment"],
  ["https://hooks.example/#", "fragment"],
  [`https://hooks.example/${"x".repeat(2048)}`, "longer"],
  ["https://hooks.example/a b", "spaces"],
  ["https://127.0.\t0.1/", "spaces"],
  ["https://127.0.0.1/", "127.0.0.1"],
  ["https://2130706433/", "127.0.0.1"],
  ["https://0x7f.1/", "127.0.0.1"],
  ["https://0177.0.0.1/", "127.0.0.1"],
  ["https://[::1]:8443/", "::1"],
  ["https://localhost/", "127.0.0.1"],
  ["https://LOCALHOST./", "127.0.0.1"],
  ["https://api.localhost:8443/", "127.0.0.1"],
  ["https://[::ffff:127.0.0.1]/", "7f00:1"],
])("the webhook check refuses %s and says why", async (url, reason) => {
  const verdict = await check(url);
  expect(verdict.ok).toBe(false);
  expect(!verdict.ok && verdict.reason).toContain(reason);
});

test("the webhook check refuses a name when any of its addresses is not public", async () => {
  const verdict = await check("https://hooks.example/in", [], async () => ["8.8.8.8", "10.0.0.1"]);
  expect(!verdict.ok && verdict.reason).toContain("hooks.example points to 10.0.0.1");
});

test("the webhook check looks a name up without the dot at its end, too", async () => {
  const resolve: Resolve = async (name) => (name === "hooks.example" ? ["10.0.0.1"] : []);
  expect(await check("https://hooks.example./", [], resolve)).toMatchObject({ ok: false });
});

test("the webhook check saves a name that does not resolve yet, spelled as it was given", async () => {
  expect(await check(" https://Hooks.example ")).toEqual({ ok: true, url: "https://Hooks.example" });
});

test("the webhook check accepts a loopback address that the operator allows", async () => {
  expect(await check("https://127.0.0.1:9443/in", ["127.0.0.0/8"])).toEqual({
    ok: true,
    url: "https://127.0.0.1:9443/in",
  });
});
