import { toggleDebug } from "../lib/logger.ts";
import type { Command, CommandContext } from "./command.ts";

/** How to begin, as far as it fits the roles of this process. */
function firstSteps(http: string): string {
  const steps = `Vigil runs with an empty database. In another terminal, with the same settings:
  vigil org create --name "Care Co"
  vigil integration create --org care-co --name "Care app"`;
  return http === "off"
    ? `${steps}\nThis process does not serve the API: start one with --roles api for the calls of partners.`
    : `${steps}\n  curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials ${http}/o/token/`;
}

/** Resolves at the first signal. A second one means that draining takes too long for somebody: leave at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    const onSignal = (): void => {
      seen++;
      if (seen > 1) process.exit(1);
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

const start: Command = {
  path: ["start"],
  summary: "Run the service",
  positionals: [],
  options: [
    { name: "port", value: "N", summary: "port of the HTTP API (VIGIL_PORT)", default: "8080" },
    { name: "gateway-port", value: "N", summary: "port of the device gateway (VIGIL_GATEWAY_PORT)", default: "7700" },
    { name: "ops-port", value: "N", summary: "loopback port of health and metrics (VIGIL_OPS_PORT)", default: "9090" },
    { name: "roles", value: "a,b", summary: "what this process does", default: "api,gateway,worker" },
    {
      name: "processes",
      value: "N|auto",
      summary: "processes that share the roles; auto: one per core (VIGIL_PROCESSES); 1 below four cores, else auto",
    },
  ],
  examples: [
    "vigil start",
    "vigil start --data-dir /var/lib/vigil --port 8443",
    "vigil start --processes auto",
    "DATABASE_URL=postgres://vigil@db.example/vigil vigil start --roles api,worker",
  ],
  next: [
    'vigil org create --name "Care Co"',
    'vigil integration create --org care-co --name "Care app"',
    "vigil doctor",
  ],
  isService: true,
  run: async (context) => {
    const { args, log, io } = context;
    const stopped = untilSignal();
    const service = await startRoles(context);
    const { http, gateway, udp, ops } = service;
    // Programs read the ready line as section 23 gives it, so what is beside it goes to the log.
    log.info({ udp }, "datagrams");
    if (service.isEmpty) context.note(firstSteps(http));
    const ready = args.has("json")
      ? JSON.stringify({ ready: true, http, gateway, ops })
      : `vigil ready http=${http} gateway=${gateway}`;
    io.stdout(`${ready}\n`);
    await stopped;
    return (await service.close()) ? 0 : 1;
  },
};

interface StartedRoles {
  http: string;
  gateway: string;
  udp: string;
  ops: string;
  isEmpty: boolean;
  /** False: something did not end in time. */
  close(): Promise<boolean>;
}

/** In this process, or in several that this one supervises. Either brings the whole program; other commands start faster without. */
async function startRoles({ config, log, io }: CommandContext): Promise<StartedRoles> {
  let handOn: (signal: NodeJS.Signals) => void = () => undefined;
  process.on("SIGUSR2", () => {
    toggleDebug(log, config.logLevel);
    handOn("SIGUSR2");
  });
  if (config.processes === 1) {
    const { startService } = await import("../service.ts");
    const service = await startService(config, log);
    return { ...service, close: () => service.close().then(() => true) };
  }
  const { startSupervisor } = await import("../roles/supervisor.ts");
  const service = await startSupervisor(config, log, (lines) => io.stderr(lines.toString()));
  handOn = service.signal;
  return service;
}

export const startCommands: readonly Command[] = [start];
