import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandLine, openCommandLine } from "../support/command-line.ts";

let cli: CommandLine;
beforeAll(async () => {
  cli = await openCommandLine();
});
afterAll(() => cli.close());

const free = { VIGIL_PORT: "0", VIGIL_GATEWAY_PORT: "0", VIGIL_OPS_PORT: "0" };

test("writes a bundle for support that names no person, organization, address or secret", async () => {
  await cli.vigilJson(["org", "create", "--name", "Casa Maria", "--slug", "casa-maria"]);
  const { client_id, client_secret } = await cli.vigilJson<{ client_id: string; client_secret: string }>([
    "integration",
    "create",
    "--org",
    "casa-maria",
    "--name",
    "Rossi app",
  ]);
  const file = join(cli.dataDir, "bundle.json");
  const report = await cli.vigilJson<{ bundle: string }>(["doctor", "--bundle", file], free);
  expect(report.bundle).toBe(file);
  const text = await readFile(file, "utf8");
  for (const secret of ["aria", "Rossi", client_id, client_secret, cli.dataDir, "postgres://"]) {
    expect(text).not.toContain(secret);
  }
  const bundle = JSON.parse(text) as {
    tables: { table: string }[];
    checks: { name: string }[];
    metrics: string | null;
  };
  expect(bundle.tables.map(({ table }) => table)).toContain("organizations");
  expect(bundle.checks.map(({ name }) => name)).toContain("database");
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const again = await cli.vigil(["doctor", "--bundle", file], free);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("exists: choose another name");
});
