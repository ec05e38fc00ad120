import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { binary, type CommandLine, openCommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await openCommandLine();
  await cli.build();
}, 120_000);

afterAll(() => cli?.close());

test("the program prints its version and its help", async () => {
  expect(await cli.spawned(["--version"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^vigil \d+\.\d+\.\d+\n$/),
    stderr: "",
  });
  expect(await cli.spawned(["org", "create", "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Usage: vigil org create"),
    stderr: "",
  });
  expect(await cli.spawned([])).toMatchObject({ code: 2, stdout: "" });
});

test("the program reads a password from its stdin and prints one JSON document", async () => {
  const org = await cli.makeOrganization();
  const create = ["user", "create", "--org", org, "--email", "ada@example.org", "--role", "OWNER"];
  const { code, stdout, stderr } = await cli.spawned([...create, "--password-stdin", "--json"], {}, "correct horse\n");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ email: "ada@example.org", portal_active: true });
});

test("the program ends with code 2 after wrong usage and with code 1 after a failure", async () => {
  expect(await cli.spawned(["orgg", "list", "--json"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/did you mean org\?\)\nusage: vigil/),
  });
  expect(await cli.spawned(["org", "set", "nobody", "--name", "x", "--json"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^vigil: .*vigil org list.*\n$/),
  });
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "vigil start prints the ready line when the service runs, and stops at %s",
  async (signal) => {
    const ports = ["--port", "0", "--gateway-port", "0", "--ops-port", "0"];
    const child = spawn(process.execPath, [binary, "start", ...ports, "--json"], {
      env: cli.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    let stdout = "";
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
        if (stdout.includes("\n")) resolve();
      });
      exited.then((code) => reject(new Error(`stopped with code ${code} before it was ready`)));
    });
    try {
      await ready;
      expect(JSON.parse(stdout)).toMatchObject({
        ready: true,
        http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      });
      child.kill(signal);
      expect(await exited).toBe(0);
    } finally {
      child.kill("SIGKILL");
    }
  },
);
