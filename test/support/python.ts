import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** A Python with httpx that can import the client of this checkout. */
export interface Python {
  program: string;
  run(args: readonly string[], env?: Record<string, string>, cwd?: string): Promise<Output>;
  /** With the packages that a test needs beside httpx; false: they cannot be had here. */
  install(...packages: string[]): Promise<boolean>;
  remove(): Promise<void>;
}

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

export const pythonClient = resolve(import.meta.dirname, "../../clients/python");

export function runProgram(file: string, args: readonly string[], env: Record<string, string> = {}, cwd?: string) {
  return new Promise<Output>((done) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 26, ...(cwd ? { cwd } : {}) };
    execFile(file, args, options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      done({ code, stdout, stderr });
    });
  });
}

/** Undefined where there is no Python 3.11, or no httpx and no way to install it. */
export async function openPython(): Promise<Python | undefined> {
  const check = "import sys, venv; sys.exit(sys.version_info < (3, 11))";
  if ((await runProgram("python3", ["-c", check])).code !== 0) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "vigil-python-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  await runProgram("python3", ["-m", "venv", "--system-site-packages", folder]);
  const program = join(folder, "bin", "python");
  const path = [join(pythonClient, "src"), join(pythonClient, "tests")].join(delimiter);
  const run: Python["run"] = (args, env, cwd) => runProgram(program, args, { PYTHONPATH: path, ...env }, cwd);
  const install: Python["install"] = async (...packages) =>
    (await run(["-m", "pip", "install", "--quiet", "--timeout", "20", "--retries", "1", ...packages])).code === 0;
  const hasHttpx = async (): Promise<boolean> => (await run(["-c", "import httpx"])).code === 0;
  if (existsSync(program) && ((await hasHttpx()) || (await install("httpx>=0.25,<1"))))
    return { program, run, install, remove };
  await remove();
  return undefined;
}
