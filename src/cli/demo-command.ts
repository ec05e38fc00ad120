import { type FleetMember, makeFleet } from "../simulator/fleet.ts";
import { dayOf, planDay } from "../simulator/itinerary.ts";
import { makeProgressLine } from "../simulator/progress.ts";
import { startSimulation } from "../simulator/simulation.ts";
import type { Command, CommandContext } from "./command.ts";
import { UsageError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { type DemoContent, demoPeople, makeDemoContent } from "./demo-content.ts";
import { type DemoAccess, demoOwner, demoSlug, demoStaff, openDemo } from "./demo-organization.ts";
import { registerFleet, romeAt } from "./fleet-registration.ts";
import { positiveInteger } from "./option-values.ts";
import { untilSignal } from "./start-command.ts";

const maxDevices = 1000;
const defaultDevices = 12;
/** Always the same people, so that the demo finds its devices again. */
const seed = 2026;
const intervalMs = 10_000;
/** A walk stays below the speed of a car, and a day passes in little more than an hour. */
const speed = 20;
/** Of their time: half a minute of ours. */
const aheadMs = 10 * 60_000;

interface Ready {
  ready: true;
  http: string;
  gateway: string;
  ops: string;
  organization: { id: string; slug: string; features: readonly string[] };
  integration_id: string;
  client_id: string;
  client_secret: string;
  owner: { email: string; password: string | null };
  users: DemoContent["users"];
  devices: string[];
  geofences: number;
  thresholds: number;
}

function deviceCount({ args }: CommandContext): number {
  const count = positiveInteger(args, "devices", defaultDevices) ?? defaultDevices;
  if (count > maxDevices) throw new UsageError(`--devices must be at most ${maxDevices}, "vigil simulate" takes more`);
  return count;
}

/** Whatever the time is, the first of the people with geofences is about to leave the house when the demo starts. */
function morningOf(fleet: readonly FleetMember[], now: Date): number {
  const days = fleet.slice(0, demoPeople).map(({ person }) => planDay(person, dayOf(person, now.getTime())));
  const walks = days.flatMap(({ legs }) => legs.flatMap(({ kind, fromMs }) => (kind === "walk" ? [fromMs] : [])));
  // On a rare day none of them goes out.
  return walks.length > 0 ? Math.min(...walks) - aheadMs : (days[0]?.wakesMs ?? now.getTime());
}

const demo: Command = {
  path: ["demo"],
  summary: "Run the service with a demo organization and a simulated fleet",
  positionals: [],
  options: [
    { name: "devices", value: "N", summary: `simulated watches, up to ${maxDevices}`, default: String(defaultDevices) },
    { name: "port", value: "N", summary: "port of the HTTP API (VIGIL_PORT)", default: "8080" },
    { name: "gateway-port", value: "N", summary: "port of the device gateway (VIGIL_GATEWAY_PORT)", default: "7700" },
    { name: "ops-port", value: "N", summary: "loopback port of health and metrics (VIGIL_OPS_PORT)", default: "9090" },
  ],
  examples: ["vigil demo", "vigil demo --devices 50 --data-dir /tmp/vigil-demo"],
  next: ["It prints credentials and calls to try. Ctrl-C ends it; the next start goes on with the same data."],
  isService: true,
  run: async (context) => {
    const { clock, log, io } = context;
    const devices = deviceCount(context);
    const stopped = untilSignal();
    const { startService } = await import("../service.ts");
    const service = await startService({ ...context.config, roles: ["api", "gateway", "worker"] }, log);
    try {
      const planned = makeFleet(seed, devices, "mixed", romeAt(clock.now()));
      const { access, fleet } = await withDatabase(context, async (db) => {
        const access = await openDemo(db, context);
        return { access, fleet: await registerFleet(db, access.organization, planned, clock, () => undefined) };
      });
      const content = await makeDemoContent({ http: service.http, ...access }, fleet);
      const document: Ready = readyDocument(
        service,
        access,
        content,
        fleet.map(({ imei }) => imei),
      );
      const simulation = startSimulation({
        fleet,
        ...addressOf(service.gateway),
        clock,
        intervalMs,
        speed,
        lifeStartMs: morningOf(fleet, clock.now()),
      });
      // So that there is one to look at; by themselves people record one every other day.
      simulation.devices[0]?.recordEcg();
      try {
        const isJson = context.args.has("json");
        io.stdout(isJson ? `${JSON.stringify(document)}\n` : explain(document));
        const line = makeProgressLine(simulation.tally, fleet.length, clock.nowMs());
        const timer = setInterval(() => {
          if (!isJson) context.note(line(clock.nowMs()));
        }, 60_000);
        await stopped;
        clearInterval(timer);
      } finally {
        simulation.close();
      }
    } finally {
      await service.close();
    }
    return 0;
  },
};

/** A gateway that listens on all addresses is reached on this machine. */
function addressOf(gateway: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${gateway}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port: Number(port) };
}

const readyDocument = (
  { http, gateway, ops }: { http: string; gateway: string; ops: string },
  { organization, integrationId, clientId, clientSecret, ownerPassword }: DemoAccess,
  content: DemoContent,
  devices: string[],
): Ready => ({
  ready: true,
  http,
  gateway,
  ops,
  organization: { id: organization.id, slug: organization.slug, features: organization.features },
  integration_id: integrationId,
  client_id: clientId,
  client_secret: clientSecret,
  owner: { email: demoOwner, password: ownerPassword },
  ...content,
  devices,
});

function explain(demo: Ready): string {
  const { http, devices, users, client_id, client_secret, owner } = demo;
  const [first = ""] = devices;
  return `vigil ready http=${http} gateway=${demo.gateway}

Demo organization "${demoSlug}": ${devices.length} simulated watches in Rome, ${users.length} people, ${demo.geofences} geofences, ${demo.thresholds} alert thresholds.
Everything in it is invented. A day of the people passes in ${24 / speed} hours, and their watches report every ${intervalMs / 1000} seconds.

  client id       ${client_id}
  client secret   ${client_secret}
  console         ${http}/console/
  sign in as      ${demoStaff.map(({ email, role }) => `${email} (${role})`).join(", ")}
  password        ${owner.password ?? "as an earlier demo has shown it"}

Try it:

  TOKEN=$(curl -s -u ${client_id}:${client_secret} -d grant_type=client_credentials ${http}/o/token/ | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/locations/latest/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/telemetry/latest/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/devices/${first}/ecg/
  curl -s -H "Authorization: Bearer $TOKEN" ${http}/api/v1/events/

Indoors a watch sees few satellites: a position may take a minute, until its person goes out. So do events of geofences and thresholds.
Open ${http}/api/schema/swagger/ to read and try every call. Ctrl-C ends the demo; the next start goes on with the same data.
`;
}

export const demoCommands: readonly Command[] = [demo];
