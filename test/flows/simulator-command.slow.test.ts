import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CommandError, UsageError } from "../../src/cli/command.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import { simulateCommands } from "../../src/cli/simulate-command.ts";
import type { Config } from "../../src/config.ts";
import { makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { makeFleet, rome } from "../../src/simulator/fleet.ts";
import { type AcceptingGateway, openAcceptingGateway } from "../support/accepting-gateway.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeIntegration, makeOrganization, type TestOrganization } from "../support/world.ts";

describe("vigil simulate", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let gateway: AcceptingGateway;
  let port: string;

  beforeAll(async () => {
    api = await openTestApi();
    organization = await makeOrganization(api);
    token = (await makeIntegration(api, organization)).token;
    gateway = await openAcceptingGateway();
    port = String(gateway.port);
  });
  afterAll(async () => {
    await gateway.close();
    await api.close();
  });

  async function run(...words: string[]) {
    const request = parseCommandLine(["simulate", ...words], simulateCommands);
    if (request.kind !== "run") throw new Error("nothing to run");
    let document: Record<string, unknown> = {};
    const notes: string[] = [];
    const code = await request.command.run({
      args: request.args,
      io: { stdout: () => undefined, stderr: () => undefined, readStdin: async () => "" },
      config: { databaseUrl: api.url, gatewayHost: "0.0.0.0", gatewayPort: 1 } as Config,
      clock: makeClock(),
      log: makeLogger("silent"),
      print: (printed) => {
        document = printed as Record<string, unknown>;
      },
      note: (text) => notes.push(text),
    });
    return { code, document, notes };
  }

  it("registers its devices, lets them report, and ends with a summary", async () => {
    const words = ["--devices", "6", "--protocol", "mixed", "--interval", "1", "--port", port, "--seed", "77"];
    const { code, document } = await run(...words, "--org", organization.slug, "--duration", "2", "--json");
    expect(code).toBe(0);
    expect(document).toMatchObject({ devices: 6, connected: 6, connections: 6, packets_resent: 0, seed: 77 });
    expect(document.packets_acked).toBeGreaterThan(6);
    const { body } = await api.call("GET", "/api/v1/devices/?ordering=name", { token });
    const devices = body.results as {
      uid: string;
      name: string;
      device_model_slug: string;
      terminal_id: string | null;
    }[];
    expect(devices.map(({ name }) => name).sort()).toEqual([1, 2, 3, 4, 5, 6].map((number) => `Simulated ${number}`));
    expect(new Set(devices.map((device) => device.device_model_slug))).toEqual(
      new Set(makeFleet(77, 6, "mixed", { ...rome, utcOffsetMinutes: 0 }).map(({ modelSlug }) => modelSlug)),
    );
    expect(gateway.logins).toEqual(new Set(devices.map(({ uid, terminal_id }) => terminal_id ?? uid)));

    const again = await run(...words, "--org", organization.slug, "--duration", "1", "--json");
    expect(again.document).toMatchObject({ devices: 6, connected: 6 });
  });

  it("ends at a signal, with a summary", async () => {
    const [listeners, known] = [process.listenerCount("SIGINT"), gateway.logins.size];
    const ended = run("--devices", "2", "--port", port, "--seed", "78");
    await vi.waitFor(() => expect(gateway.logins.size).toBe(known + 2), { timeout: 10_000 });
    process.emit("SIGINT");
    expect(await ended).toMatchObject({ code: 0, document: { devices: 2, connections: 2 } });
    expect(process.listenerCount("SIGINT")).toBe(listeners);
  });

  it("says what to do when it cannot begin", async () => {
    const failing = (...words: string[]) => run("--devices", "1", ...words);
    await expect(failing("--port", "1")).rejects.toThrow(/not reachable .*running with the gateway role/);
    await expect(failing("--port", "1")).rejects.toBeInstanceOf(CommandError);
    await expect(failing("--port", port, "--org", "nobody")).rejects.toThrow(/there is no organization "nobody"/);
    const other = await makeOrganization(api);
    await expect(failing("--port", port, "--org", other.slug, "--seed", "77")).rejects.toThrow(/choose another --seed/);
  });

  it.each([
    [["--devices", "0"], /--devices/],
    [["--devices", "1.5"], /whole number/],
    [["--devices", "1", "--protocol", "wach"], /did you mean watch/],
    [["--devices", "1", "--transport", "udp", "--protocol", "iw"], /iw is not spoken over udp/],
    [["--devices", "1", "--transport", "smoke"], /--transport/],
    [["--devices", "1", "--interval", "0"], /--interval/],
    [["--devices", "1", "--speed", "x"], /--speed/],
    [[], /--devices is missing/],
  ])("refuses %j", async (words, text) => {
    await expect(run(...words)).rejects.toThrow(text);
    await expect(run(...words)).rejects.toBeInstanceOf(UsageError);
  });
});
