import { expect, test } from "vitest";
import { loadConfig } from "../config.ts";
import { checkBaseUrl, checkClock, checkDistribution, checkMail, checkNode, checkSpeech } from "./doctor-checks.ts";

test("the doctor requires Node.js 20.19 or newer", () => {
  expect(["v20.19.0", "v20.20.2", "v22.1.0"].map((version) => checkNode(version).ok)).toEqual([true, true, true]);
  expect(["v18.20.0", "v20.18.3"].map((version) => checkNode(version).ok)).toEqual([false, false]);
});

test("the doctor requires https unless everything stays on this machine", () => {
  const check = (env: Record<string, string>) => checkBaseUrl(loadConfig({}, env)).ok;
  expect(check({})).toBe(true);
  expect(check({ VIGIL_HOST: "0.0.0.0" })).toBe(false);
  expect(check({ VIGIL_HOST: "0.0.0.0", VIGIL_BASE_URL: "https://vigil.example" })).toBe(true);
  expect(check({ VIGIL_BASE_URL: "http://vigil.example" })).toBe(false);
  expect(check({ VIGIL_BASE_URL: "http://127.0.0.1:8080" })).toBe(true);
  expect(check({ VIGIL_BASE_URL: "http://[::1]:8080" })).toBe(true);
});

test("the doctor notices a clock that was never set or that differs from the database", () => {
  const config = loadConfig({}, {});
  const now = Date.UTC(2026, 5, 1);
  expect(checkClock(config, now, undefined).ok).toBe(true);
  expect(checkClock(config, now, now + 1000).ok).toBe(true);
  expect(checkClock(config, now, now - 60_000).ok).toBe(false);
  expect(checkClock(config, 0, undefined).ok).toBe(false);
});

test("the doctor does not show the password of the mail server", () => {
  const { detail } = checkMail(loadConfig({}, { VIGIL_SMTP_URL: "smtp://me:hunter2@mail.example:587" }));
  expect(detail).toContain("mail.example:587");
  expect(detail).not.toContain("hunter2");
});

test("the doctor names the speech engine, and warns without the optional one", () => {
  const check = (setting: string, isInstalled: boolean) =>
    checkSpeech(loadConfig({}, { VIGIL_TTS: setting }), isInstalled);
  expect(check("espeak", true)).toEqual({ name: "speech", ok: true, detail: expect.stringContaining("bundled") });
  // The service runs without it, as NOTICE promises.
  expect(check("espeak", false)).toEqual({
    name: "speech",
    ok: true,
    detail: expect.stringContaining("not installed"),
  });
  expect(check("http:http://127.0.0.1:1/", false).detail).toContain("http");
  expect(check("off", true).detail).toContain("off");
});

test("the doctor speaks of a distribution only where there is or should be one, and says what is missing", () => {
  const none = { citus: undefined, workers: 0, distributed: [], reasons: ["this server has no Citus"], notes: [] };
  const whole = { citus: "13.2-1", workers: 2, distributed: ["locations"], reasons: [], notes: [] };
  expect(checkDistribution(none, [])).toEqual([]);
  expect(checkDistribution(whole, ["locations"])).toMatchObject([
    { ok: true, detail: expect.stringContaining("2 node") },
  ]);
  expect(checkDistribution(none, ["locations"])).toMatchObject([
    { ok: false, detail: expect.stringContaining("no Citus") },
  ]);
  expect(checkDistribution(whole, ["locations", "telemetry"])).toMatchObject([
    { ok: false, detail: expect.stringContaining("telemetry is not distributed") },
  ]);
});
