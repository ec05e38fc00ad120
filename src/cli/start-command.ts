import { toggleDebug } from "../lib/logger.ts";
import type { Command } from "./command.ts";

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
  ],
  examples: [
    "vigil start",
    "vigil start --data-dir /var/lib/vigil --port 8443",
    "DATABASE_URL=postgres://vigil@db.example/vigil vigil start --roles api,worker",
  ],
  next: [
    'vigil org create --name "Care Co"',
    'vigil integration create --org care-co --name "Care app"',
    "vigil doctor",
  ],
  isService: true,
  run: async (context) => {
    const { args, config, log, io } = context;
    const stopped = untilSignal();
    process.on("SIGUSR2", () => toggleDebug(log, config.logLevel));
    // The service brings the whole program with it; the other commands start faster without.
    const { startService } = await import("../service.ts");
    const service = await startService(config, log);
    const { http, gateway, udp, ops } = service;
    // Programs read the ready line as section 23 gives it, so what is beside it goes to the log.
    log.info({ udp }, "datagrams");
    if (service.isEmpty) context.note(firstSteps(http));
    const ready = args.has("json")
      ? JSON.stringify({ ready: true, http, gateway, ops })
      : `vigil ready http=${http} gateway=${gateway}`;
    io.stdout(`${ready}\n`);
    await stopped;
    await service.close();
    return 0;
  },
};

export const startCommands: readonly Command[] = [start];
