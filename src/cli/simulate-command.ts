import { connect } from "node:net";
import type { FleetTransport } from "../simulator/device-protocol.ts";
import {
  defaultProtocol,
  type FleetProtocol,
  fleetProtocols,
  fleetProtocolsOver,
  makeFleet,
  maxFleetSize,
} from "../simulator/fleet.ts";
import { makeProgressLine, type Summary, summarize } from "../simulator/progress.ts";
import { type Simulation, startSimulation } from "../simulator/simulation.ts";
import { type Arguments, type Command, type CommandContext, CommandError, UsageError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { reasonOf } from "./failures.ts";
import { registerFleet, romeAt } from "./fleet-registration.ts";
import { getOrganization } from "./operator.ts";
import { knownWords } from "./option-values.ts";
import { record } from "./output.ts";

interface Settings {
  devices: number;
  protocol: FleetProtocol;
  transport: FleetTransport;
  intervalMs: number;
  host: string;
  port: number;
  seed: number;
  durationMs: number | undefined;
  speed: number;
}

const number = (args: Arguments, option: string, low: number, high: number, fallback: number): number => {
  const text = args.value(option);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < low || value > high) {
    throw new UsageError(`--${option} must be a number from ${low} to ${high}, not "${text}"`);
  }
  return value;
};

function wholeNumber(args: Arguments, option: string, low: number, high: number, fallback: number): number {
  const value = number(args, option, low, high, fallback);
  if (!Number.isInteger(value)) throw new UsageError(`--${option} must be a whole number, not "${args.value(option)}"`);
  return value;
}

/** A gateway that listens on all addresses is reached on this machine. */
const reachable = (host: string): string => (host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host);

const transports: readonly FleetTransport[] = ["tcp", "udp"];

function readSettings({ args, config }: CommandContext): Settings {
  const [transport = "tcp"] = knownWords("transport", [args.value("transport") ?? "tcp"], transports);
  const spoken = fleetProtocolsOver(transport);
  const [firstSpoken = defaultProtocol] = spoken;
  const fallback = spoken.includes(defaultProtocol) ? defaultProtocol : firstSpoken;
  const [protocol = fallback] = knownWords("protocol", [args.value("protocol") ?? fallback], fleetProtocols);
  if (!spoken.includes(protocol)) {
    throw new UsageError(`--protocol ${protocol} is not spoken over ${transport}; one of ${spoken.join(", ")} is`);
  }
  return {
    devices: wholeNumber(args, "devices", 1, maxFleetSize, 1),
    protocol,
    transport,
    intervalMs: number(args, "interval", 1, 86_400, 60) * 1000,
    host: args.value("host") || reachable(config.gatewayHost),
    port: wholeNumber(args, "port", 1, 65_535, config.gatewayPort),
    seed: wholeNumber(args, "seed", 0, Number.MAX_SAFE_INTEGER, 1),
    durationMs: args.has("duration") ? number(args, "duration", 1, 31_536_000, 0) * 1000 : undefined,
    speed: number(args, "speed", 1, 1000, 1),
  };
}

/** Fails early and in words, before anything is registered. */
function checkGateway({ host, port }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 5000 });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(
        new CommandError(
          `the gateway at ${host}:${port} is not reachable (${reason}): is "vigil start" running with the gateway role? --host and --port name another address`,
        ),
      );
    };
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("timeout", () => fail("no answer within 5 seconds"));
    socket.once("error", (error) => fail(reasonOf(error)));
  });
}

/** Resolves at the end of the time or at a signal; a second signal then ends the program as usual. */
function untilEnd(durationMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of signals) process.removeListener(signal, end);
      resolve();
    };
    const signals = ["SIGINT", "SIGTERM"] as const;
    const timer = setTimeout(end, Math.min(durationMs ?? Number.POSITIVE_INFINITY, 2_147_483_647));
    for (const signal of signals) process.on(signal, end);
  });
}

/** A terminal has one line that changes every second; elsewhere a line is added every five. */
function showProgress(context: CommandContext, simulation: Simulation): () => void {
  if (context.args.has("json")) return () => undefined;
  const isTerminal = process.stderr.isTTY === true;
  const line = makeProgressLine(simulation.tally, simulation.devices.length, context.clock.nowMs());
  const show = (): void => {
    const text = line(context.clock.nowMs());
    if (isTerminal) context.io.stderr(`\r\x1b[K${text}`);
    else context.note(text);
  };
  const timer = setInterval(show, isTerminal ? 1000 : 5000);
  return () => {
    clearInterval(timer);
    if (isTerminal) context.io.stderr("\r\x1b[K");
  };
}

function advice(summary: Summary, isRegistered: boolean): string | undefined {
  const { refused_logins } = summary.errors;
  if (refused_logins === 0) return undefined;
  const remedy = isRegistered
    ? "see the service's log"
    : 'they are not registered: add --org SLUG, and see "vigil device unknown"';
  return `${refused_logins} logins were refused: ${remedy}`;
}

const simulate: Command = {
  path: ["simulate"],
  summary: "Run virtual devices that report over real connections",
  positionals: [],
  options: [
    { name: "devices", value: "N", required: true, summary: `how many, up to ${maxFleetSize}` },
    { name: "protocol", value: "P", summary: `one of ${fleetProtocols.join(", ")}`, default: defaultProtocol },
    { name: "transport", value: "T", summary: `one of ${transports.join(", ")}`, default: "tcp" },
    { name: "interval", value: "S", summary: "seconds between location reports", default: "60" },
    { name: "org", value: "SLUG", summary: "register the devices in this organization first" },
    { name: "host", value: "H", summary: "address of the gateway", default: "127.0.0.1" },
    { name: "port", value: "P", summary: "port of the gateway (VIGIL_GATEWAY_PORT)", default: "7700" },
    { name: "seed", value: "N", summary: "the same seed gives the same devices and the same days", default: "1" },
    { name: "duration", value: "S", summary: "seconds to run; without it until Ctrl-C" },
    {
      name: "speed",
      value: "X",
      summary: "run the simulated days faster; reports keep their interval",
      default: "1",
    },
  ],
  examples: [
    "vigil simulate --devices 10 --org care-co",
    "vigil simulate --devices 1000 --org care-co --protocol mixed --interval 30 --duration 600 --json",
    "vigil simulate --devices 10 --org care-co --transport udp --protocol mixed",
    "vigil simulate --devices 5 --org care-co --speed 60 --interval 10     (a day in 24 minutes)",
  ],
  next: ["GET /api/v1/devices/ shows the devices, GET /api/v1/devices/UID/locations/ where they have been."],
  run: async (context) => {
    const { args, clock } = context;
    const settings = readSettings(context);
    const planned = makeFleet(
      settings.seed,
      settings.devices,
      settings.protocol,
      romeAt(clock.now()),
      settings.transport,
    );
    await checkGateway(settings);
    const org = args.value("org");
    const fleet = org
      ? await withDatabase(context, async (db) =>
          registerFleet(db, await getOrganization(db, org), planned, clock, (done) => {
            if (!args.has("json")) context.note(`${done} of ${planned.length} devices are registered`);
          }),
        )
      : planned;

    const startMs = clock.nowMs();
    const { host, port, transport, intervalMs, speed } = settings;
    // The gateway takes 12,000 new connections a minute from one address.
    const connectsPerSecond = fleet.length > 10_000 ? 180 : 1000;
    const simulation = startSimulation({ fleet, host, port, transport, clock, intervalMs, speed, connectsPerSecond });
    const stopProgress = showProgress(context, simulation);
    await untilEnd(settings.durationMs);
    stopProgress();
    const summary = summarize(simulation.tally, fleet.length, clock.nowMs() - startMs);
    simulation.close();

    const hint = advice(summary, org !== undefined);
    if (hint !== undefined) context.note(`vigil: ${hint}`);
    const document = { ...summary, seed: settings.seed, started_at: new Date(startMs).toISOString() };
    context.print(document, record({ ...document, errors: simulation.tally.errors }));
    return summary.packets_acked > 0 ? 0 : 1;
  },
};

export const simulateCommands: readonly Command[] = [simulate];
