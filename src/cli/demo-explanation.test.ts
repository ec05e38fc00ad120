import { expect, test } from "vitest";
import type { Ready } from "./demo-command.ts";
import { explainDemo } from "./demo-explanation.ts";

test("the demo says where its console is, and gives a login of each role", () => {
  const demo: Ready = {
    ready: true,
    http: "http://127.0.0.1:8080",
    gateway: "127.0.0.1:7700",
    ops: "127.0.0.1:9090",
    organization: { id: "o", slug: "vigil-demo", features: [] },
    integration_id: "i",
    client_id: "c",
    client_secret: "s",
    owner: { email: "owner@demo.example", password: "long and random" },
    users: [],
    devices: ["490154203237518"],
    showcase: { caller: "1", spare: "2", phone: "3" },
    geofences: 0,
    thresholds: 0,
    webhook_secret: "whsec_x",
    receiver: null,
  };
  const lines = explainDemo(demo, { speed: 20, intervalMs: 10_000, dataDir: undefined }).split("\n");
  const shown = (name: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`  ${name}`))
      ?.slice(name.length + 2)
      .trim();
  expect(shown("console")).toBe("http://127.0.0.1:8080/console/");
  expect(shown("sign in as")).toBe(
    "owner@demo.example (OWNER), admin@demo.example (ADMIN), carer@demo.example (USER), family@demo.example (VIEWER)",
  );
  expect(shown("password")).toBe("long and random");
});
