import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const units = readdirSync(join(root, "deploy/systemd"));
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
const unitOf = (file: string): string => readFileSync(join(root, "deploy/systemd", file), "utf8");

/** The lines after [Service] that say what the process can see and do. */
const hardening = (file: string): string[] =>
  unitOf(file)
    .split("\n")
    .filter((line) => /^(Protect|Private|Restrict|System|NoNew|Capab|Ambient|Lock|UMask|Proc)/.test(line));

describe("systemd units", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "vigil-units-"));
    // The program must exist for the check; the checkout stands in for /opt/vigil.
    for (const file of units) writeFileSync(join(folder, file), unitOf(file).replaceAll("/opt/vigil", root));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are one for all roles and one for each", () => {
    expect(units).toEqual(["vigil-api.service", "vigil-gateway.service", "vigil-worker.service", "vigil.service"]);
  });

  it.each(units)("%s is as hardened as the others", (file) => {
    expect(hardening(file).length).toBeGreaterThan(20);
    expect(hardening(file)).toEqual(hardening("vigil.service"));
  });

  it.skipIf(!hasSystemd).each(units)("%s passes systemd-analyze verify", (file) => {
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", join(folder, file)]);
    expect([status, stderr.toString()]).toEqual([0, ""]);
  });

  it.skipIf(!hasSystemd).each(units)("%s has a low exposure level", (file) => {
    const args = ["security", "--offline=true", "--threshold=20", join(folder, file)];
    expect(spawnSync("systemd-analyze", args).status).toBe(0);
  });
});
