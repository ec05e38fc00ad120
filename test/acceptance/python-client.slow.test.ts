import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPython, pythonClient } from "../support/python.ts";
import {
  type Credentials,
  makeCredentials,
  type RunningVigil,
  startVigil,
  tempFolder,
} from "../support/vigil-process.ts";

const python = await openPython();
afterAll(() => python?.remove());

describe.skipIf(!python)("the Python client (needs python3 of 3.11 and httpx)", () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let service: RunningVigil;
  let credentials: Credentials;

  beforeAll(async () => {
    folder = await tempFolder();
    service = await startVigil(["--data-dir", folder.path], {
      VIGIL_LOG_LEVEL: "fatal",
      VIGIL_GATEWAY_HOST: "127.0.0.1",
    });
    credentials = await makeCredentials(["--data-dir", folder.path]);
  });
  afterAll(async () => {
    await service.kill("SIGTERM");
    await folder.remove();
  });

  it("verifies signatures, retries and reads errors", async () => {
    const { code, stderr } = (await python?.run(["-m", "unittest", "test_offline"])) ?? {};
    expect(stderr).toMatch(/\nOK\n/);
    expect(code).toBe(0);
  });

  it("calls, iterates, streams, waits for commands and follows the log of a running service", async () => {
    const { code, stderr } =
      (await python?.run(["-m", "unittest", "test_service"], {
        VIGIL_URL: service.http,
        VIGIL_GATEWAY: service.gateway,
        VIGIL_CLIENT_ID: credentials.client_id,
        VIGIL_CLIENT_SECRET: credentials.client_secret,
      })) ?? {};
    expect(stderr).toMatch(/\nOK\n/);
    expect(code).toBe(0);
  });

  it("is typed throughout, where mypy can be had", async () => {
    if (!(await python?.install("mypy"))) return;
    const { code, stdout } = (await python?.run(["-m", "mypy"], {}, pythonClient)) ?? {};
    expect([code, stdout]).toEqual([0, expect.stringContaining("no issues found")]);
  });
});
