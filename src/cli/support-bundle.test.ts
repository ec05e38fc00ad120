import { expect, test } from "vitest";
import { loadConfig } from "../config.ts";
import { describeSettings, withoutDetails } from "./support-bundle.ts";

test("shows of settings only what cannot be a secret, a person or a place", () => {
  const settings = describeSettings(
    loadConfig(
      { dataDir: "/home/maria/data", roles: "api,worker" },
      {
        DATABASE_URL: "postgres://vigil:hunter2@db.example.org/vigil",
        VIGIL_SMTP_URL: "smtp://maria:hunter2@mail.example.org",
        VIGIL_MAIL_FROM: "Maria <maria@example.org>",
        VIGIL_GEOCODER_URL: "https://places.example.org/?key=hunter2",
        VIGIL_SECRET_KEY_FILE: "/home/maria/key",
        VIGIL_TTS: "command:/home/maria/speak --key hunter2",
        VIGIL_TRUST_PROXY: "192.0.2.1,192.0.2.2",
      },
    ),
  );
  expect(JSON.stringify(settings)).not.toMatch(/maria|hunter2|example\.org|192\.0\.2/i);
  expect(settings).toMatchObject({
    databaseUrl: "set",
    webhookCaFile: "not set",
    trustProxy: "2 values",
    roles: ["api", "worker"],
    port: 8080,
    logLevel: "info",
  });
});

test("keeps the words of a check only where they come from the program and the machine", () => {
  const checks = [
    { name: "node", ok: true, detail: "v24.1.0" },
    { name: "mail", ok: true, detail: "SMTP server mail.example.org" },
    { name: "anything new", ok: false, detail: "/home/maria" },
  ];
  expect(withoutDetails(checks)).toEqual([
    { name: "node", ok: true, detail: "v24.1.0" },
    { name: "mail", ok: true },
    { name: "anything new", ok: false },
  ]);
});
