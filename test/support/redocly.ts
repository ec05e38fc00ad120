import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");

/** What redocly finds wrong with an OpenAPI document under the rules of redocly.yaml; warnings are left aside. */
export async function lintErrors(description: unknown): Promise<unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), "vigil-openapi-"));
  try {
    const file = join(folder, "openapi.json");
    await writeFile(file, JSON.stringify(description));
    const cli = join(root, "node_modules/@redocly/cli/bin/cli.js");
    const run = promisify(execFile)(
      process.execPath,
      [cli, "lint", "--config", join(root, "redocly.yaml"), "--format", "json", file],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as { problems: { severity: string }[] };
    return problems.filter(({ severity }) => severity === "error");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
