import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandError, UsageError } from "../../src/cli/command.ts";
import { deviceCommands } from "../../src/cli/device-commands.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import type { Config } from "../../src/config.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { imeis, lastAudit, register } from "../support/devices.ts";
import { makeIntegration, makeOrganization } from "../support/world.ts";

describe("vigil device capability set", () => {
  let api: TestApi;
  let token: string;
  let uid: string;
  const nextImei = imeis();

  beforeAll(async () => {
    api = await openTestApi();
    token = (await makeIntegration(api, await makeOrganization(api))).token;
    uid = nextImei();
    await register(api, token, uid, { device_model_slug: "gt06-generic" });
  });
  afterAll(() => api.close());

  /** The printed document. */
  async function run(...words: string[]): Promise<Record<string, unknown>> {
    const request = parseCommandLine(["device", "capability", "set", ...words], deviceCommands);
    if (request.kind !== "run") throw new Error("nothing to run");
    let printed: unknown;
    await request.command.run({
      args: request.args,
      io: { stdout: () => undefined, stderr: () => undefined, readStdin: async () => "" },
      config: { databaseUrl: api.url, commandAckTimeoutSeconds: 45 } as Config,
      clock: api.clock,
      log: makeLogger("silent"),
      print: (document) => {
        printed = document;
      },
      note: () => undefined,
    });
    return printed as Record<string, unknown>;
  }

  it("prints the resolved capability, which the API shows from then on", async () => {
    const printed = await run(uid, "restart", "--supported", "false");
    expect(printed).toMatchObject({ code: "restart", kind: "command", supported: false, ack_timeout_seconds: 45 });
    expect(printed).toMatchObject({ source: "device", overridden: true });
    const { body } = await api.call("GET", `/api/v1/devices/${uid}/capabilities/`, { token });
    const shown = body.capabilities.find(({ code }: { code: string }) => code === "restart");
    expect(shown).toEqual({ ...printed, ack_timeout_seconds: 60 });
    const entry = await lastAudit(api, token, "restart", "devicecapability");
    expect(entry).toMatchObject({ actor_type: "system", additional_data: { via: "cli" }, object_repr: "restart" });
  });

  it("replaces the schema of the parameters and returns to that of the catalog", async () => {
    const schema = { type: "object", properties: { interval_seconds: { type: "integer", minimum: 600 } } };
    const set = ["set_report_interval", "--supported", "TRUE"];
    const first = await run(uid, ...set, "--params", JSON.stringify(schema));
    expect(first).toMatchObject({ supported: true, params_schema: schema });
    expect(await run(uid, ...set)).toMatchObject({ params_schema: schema });
    expect((await run(uid, ...set, "--params", "")).params_schema).not.toEqual(schema);
  });

  it("adds what the model does not list", async () => {
    expect(await run(uid, "hr", "--supported", "true")).toMatchObject({
      kind: "telemetry",
      unit: "bpm",
      supported: true,
    });
  });

  it.each([
    [["123", "restart", "--supported", "true"], /15 digits/],
    [["UID", "restrt", "--supported", "true"], /did you mean restart/],
    [["UID", "restart", "--supported", "yes"], /--supported/],
    [["UID", "restart"], /--supported/],
    [["UID", "restart", "--supported", "true", "--params", "{"], /JSON Schema/],
    [["UID", "restart", "--supported", "true", "--params", "[]"], /JSON Schema/],
    [["UID", "restart", "--supported", "true", "--params", '{"type":"thing"}'], /JSON Schema/],
    [["UID", "hr", "--supported", "true", "--params", "{}"], /not a command/],
  ])("refuses %j", async (words, message) => {
    const refusal = run(...words.map((word) => (word === "UID" ? uid : word)));
    await expect(refusal).rejects.toThrow(UsageError);
    await expect(refusal).rejects.toThrow(message);
  });

  it("says that there is no such device", async () => {
    await expect(run(nextImei(), "restart", "--supported", "true")).rejects.toThrow(CommandError);
  });
});
