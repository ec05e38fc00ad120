import { ApiError } from "../lib/errors.ts";
import { isImei } from "../lib/ids.ts";
import { networkOf } from "../lib/network-of.ts";
import type { ParamsSchema } from "../resources/catalog/capability.ts";
import { type Catalog, loadCatalog } from "../resources/catalog/catalog.ts";
import { toCapability } from "../resources/catalog/catalog-schemas.ts";
import { makeParamsChecker } from "../resources/catalog/params-validator.ts";
import { capabilitiesOfDevice, setCapabilityOverride } from "../resources/devices/capability-override-store.ts";
import { findLiveDeviceAnywhere } from "../resources/devices/device-store.ts";
import { describeTerminal, moveTerminalId } from "../resources/devices/terminal-moves.ts";
import { listThrottledNetworks, listUnknownDevices } from "../resources/devices/unknown-device-store.ts";
import { type Arguments, type Command, CommandError, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { operatorIn } from "./operator.ts";
import { knownWords } from "./option-values.ts";
import { record, table } from "./output.ts";
import { suggestion } from "./suggest.ts";

function uidArgument(args: Arguments): string {
  const uid = args.positionals[0] ?? "";
  if (!isImei(uid)) throw new UsageError(`UID must be an IMEI of 15 digits, not "${uid}"`);
  return uid;
}

/** A code that the catalog knows; whether the model has it does not matter, that is what overrides are for. */
function codeArgument(args: Arguments, catalog: Catalog): string {
  const code = args.positionals[1] ?? "";
  if (catalog.findCapability(code)) return code;
  const known = catalog.models.flatMap(({ slug }) => catalog.capabilitiesOf(slug).map((one) => one.code));
  throw new UsageError(`KEY: there is no capability "${code}"${suggestion(code, known)}`);
}

/** Undefined: not given. An empty text returns to the schema of the catalog. */
function paramsOption(args: Arguments, code: string, catalog: Catalog): ParamsSchema | null | undefined {
  const text = args.value("params");
  if (text === undefined) return undefined;
  if (catalog.findCapability(code)?.kind !== "command") {
    throw new UsageError(`--params: "${code}" is not a command and has no parameters`);
  }
  if (text.trim() === "") return null;
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw new Error("it is not an object");
    makeParamsChecker().compile(schema);
    return schema as ParamsSchema;
  } catch (error) {
    throw new UsageError(`--params must be a JSON Schema: ${(error as Error).message}`);
  }
}

const setCapability: Command = {
  path: ["device", "capability", "set"],
  summary: "Override what one device supports, regardless of its model",
  positionals: [
    { name: "UID", summary: "IMEI of a live device, of any organization" },
    { name: "KEY", summary: "code of the capability, like restart or hr" },
  ],
  options: [
    { name: "supported", value: "BOOL", required: true, summary: "true or false" },
    { name: "params", value: "JSON", summary: "JSON Schema that replaces that of the command's parameters" },
  ],
  examples: [
    "vigil device capability set 490154203237518 power_off --supported false",
    `vigil device capability set 490154203237518 set_report_interval --supported true --params '{"type":"object","required":["interval_seconds"],"properties":{"interval_seconds":{"type":"integer","minimum":600}}}'`,
    `vigil device capability set 490154203237518 set_report_interval --supported true --params ""     (the schema of the catalog again)`,
  ],
  next: ["GET /api/v1/devices/UID/capabilities/ shows all capabilities of the device."],
  run: async (context) => {
    const { args, clock, config } = context;
    const catalog = loadCatalog();
    const uid = uidArgument(args);
    const code = codeArgument(args, catalog);
    const [word] = knownWords("supported", [(args.value("supported") ?? "").trim().toLowerCase()], ["true", "false"]);
    const paramsSchema = paramsOption(args, code, catalog);
    const resolved = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const device = await findLiveDeviceAnywhere(tx, uid);
        if (!device) throw new CommandError(`there is no live device ${uid}: register it through the API first`);
        const change = { code, supported: word === "true", paramsSchema };
        await setCapabilityOverride(tx, device, change, operatorIn(device.organization_id), clock.now());
        return capabilitiesOfDevice(tx, device, catalog);
      }),
    );
    const capability = resolved.find((one) => one.code === code);
    if (!capability) throw new Error(`capability ${code} is not resolved`);
    const document = toCapability(capability, config.commandAckTimeoutSeconds);
    const { params_schema, ...shown } = document;
    const fields = params_schema ? { ...shown, params_schema: JSON.stringify(params_schema) } : shown;
    context.print(document, record(fields));
    return 0;
  },
};

/** The table keeps about as many. */
const maxUnknownDevices = 10_000;

const unknown: Command = {
  path: ["device", "unknown"],
  summary: "List ids of devices that tried to connect but are not registered",
  positionals: [],
  options: [],
  examples: ["vigil device unknown", "vigil device unknown --json"],
  next: ["POST /api/v1/devices/ registers a device; it is accepted at its next connection."],
  run: async (context) => {
    const devices = await withCurrentDatabase(context, async (db) => {
      const throttled = await listThrottledNetworks(db, context.clock.now());
      const untilOf = new Map(throttled.map(({ network, throttled_until }) => [network, throttled_until]));
      return (await listUnknownDevices(db, maxUnknownDevices)).map((device) => ({
        ...device,
        throttled_until: untilOf.get(networkOf(device.remote_addr)) ?? null,
      }));
    });
    const rows = devices.map((one) => [
      one.imei,
      one.protocol,
      one.remote_addr,
      String(one.count),
      one.first_seen_at.toISOString(),
      one.last_seen_at.toISOString(),
      one.throttled_until?.toISOString() ?? "",
    ]);
    const titles = ["imei", "protocol", "remote_addr", "count", "first_seen_at", "last_seen_at", "throttled_until"];
    context.print(devices, rows.length === 0 ? "No unknown device has tried to connect." : table(titles, rows));
    return 0;
  },
};

const terminalId: Command = {
  path: ["device", "terminal-id"],
  summary: "Show, set or release the id that a device sends instead of its IMEI",
  positionals: [{ name: "UID", summary: "IMEI of a live device, of any organization" }],
  options: [
    { name: "set", value: "ID", summary: "the device logs in with this id from now on" },
    { name: "release", summary: "the device logs in with its IMEI only, and the id becomes free" },
  ],
  examples: [
    "vigil device terminal-id 490154203237518",
    "vigil device terminal-id 490154203237518 --release",
    "vigil device terminal-id 490154203237518 --set 5420323751",
  ],
  next: [
    "A device that registers with 409 terminal_id_conflict can be registered once the holder has released the id.",
  ],
  run: async (context) => {
    const { args, clock } = context;
    const uid = uidArgument(args);
    const wanted = args.value("set");
    if (wanted !== undefined && args.has("release")) throw new UsageError("give either --set or --release");
    if (wanted !== undefined && !/^[A-Za-z0-9]{1,20}$/.test(wanted)) {
      throw new UsageError("--set takes 1 to 20 letters and digits");
    }
    const document = await withDatabase(context, (db) =>
      db.transaction(async (tx) => {
        const device = await findLiveDeviceAnywhere(tx, uid);
        if (!device) throw new CommandError(`there is no live device ${uid}: register it through the API first`);
        if (wanted !== undefined || args.has("release")) {
          await moveTerminalId(tx, device, wanted ?? null, operatorIn(device.organization_id), clock.now());
        }
        return describeTerminal(tx, uid);
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      throw new CommandError(`${error.message} Run "vigil device terminal-id" for the device that holds it first.`);
    });
    context.print(document, record(document));
    return 0;
  },
};

export const deviceCommands: readonly Command[] = [setCapability, unknown, terminalId];
