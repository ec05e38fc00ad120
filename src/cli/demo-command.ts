import { uuidV7Floor } from "../lib/ids.ts";
import { sampleEvent } from "../outbound/sample-event.ts";
import { type FleetMember, makeFleet } from "../simulator/fleet.ts";
import { dayOf, planDay } from "../simulator/itinerary.ts";
import { makeProgressLine } from "../simulator/progress.ts";
import { startSimulation } from "../simulator/simulation.ts";
import type { Command, CommandContext } from "./command.ts";
import { UsageError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { type DemoContent, demoPeople, makeDemoContent } from "./demo-content.ts";
import { explainDemo } from "./demo-explanation.ts";
import { type DemoAccess, demoOwner, openDemo } from "./demo-organization.ts";
import { signIn } from "./demo-partner.ts";
import { type DemoReceiver, openDemoReceiver } from "./demo-receiver.ts";
import { planShowcase, playShowcase, type Showcase } from "./demo-showcase.ts";
import { forwardEvents, sendEvent } from "./event-forwarding.ts";
import { registerFleet, romeAt } from "./fleet-registration.ts";
import { positiveInteger } from "./option-values.ts";
import { untilSignal } from "./start-command.ts";

const maxDevices = 1000;
const defaultDevices = 12;
/** Always the same people, so that the demo finds its devices again. */
const seed = 2026;
const intervalMs = 10_000;
const defaultReceiverPort = 8090;
/** A walk stays below the speed of a car, and a day passes in little more than an hour. */
const speed = 20;
/** Of their time: half a minute of ours. */
const aheadMs = 10 * 60_000;

export interface Ready {
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
  /** They raise every type of event. */
  showcase: Record<keyof Showcase, string>;
  geofences: number;
  thresholds: number;
  /** For `vigil webhooks listen`, and for the receiver; the same at each start. */
  webhook_secret: string;
  /** With --receiver: where events go, the page of what arrived, and the secret they are signed with. */
  receiver: { page: string; hook: string; webhook_secret: string } | null;
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
    { name: "receiver", summary: "run a webhook receiver too, with a page of what arrived, verified or not" },
    {
      name: "receiver-port",
      value: "N",
      summary: "loopback port of the receiver",
      default: String(defaultReceiverPort),
    },
    { name: "ops-port", value: "N", summary: "loopback port of health and metrics (VIGIL_OPS_PORT)", default: "9090" },
  ],
  examples: ["vigil demo", "vigil demo --receiver", "vigil demo --devices 50 --data-dir /tmp/vigil-demo"],
  next: ["It prints credentials and calls to try. Ctrl-C ends it; the next start goes on with the same data."],
  isService: true,
  run: async (context) => {
    const { clock, log, io } = context;
    const devices = deviceCount(context);
    const receiverPort = positiveInteger(context.args, "receiver-port", defaultReceiverPort) ?? defaultReceiverPort;
    const stopped = untilSignal();
    const { startService } = await import("../service.ts");
    const service = await startService({ ...context.config, roles: ["api", "gateway", "worker"] }, log);
    const ending = new AbortController();
    const { signal } = ending;
    const background: Promise<void>[] = [];
    try {
      const city = romeAt(clock.now());
      const planned = makeFleet(seed, devices, "mixed", city);
      const { caller, spare, phone } = planShowcase(seed, city);
      const { access, fleet, showcase } = await withDatabase(context, async (db) => {
        const access = await openDemo(db, context);
        const register = (members: readonly FleetMember[]): Promise<FleetMember[]> =>
          registerFleet(db, access.organization, members, clock, () => undefined);
        const fleet = await register(planned);
        const [first = caller, second = spare, third = phone] = await register([caller, spare, phone]);
        return { access, fleet, showcase: { caller: first, spare: second, phone: third } };
      });
      const partner = { http: service.http, ...access };
      const content = await makeDemoContent(partner, fleet, showcase);
      const receiver = context.args.has("receiver")
        ? await openDemoReceiver(receiverPort, access.webhookSecret, () => clock.nowMs())
        : undefined;
      if (receiver) background.push(feedReceiver(context, access, receiver, signal).finally(() => receiver.close()));
      const document = readyDocument(service, access, content, fleet, showcase, receiver);
      const address = addressOf(service.gateway);
      const simulation = startSimulation({
        fleet,
        ...address,
        clock,
        intervalMs,
        speed,
        lifeStartMs: morningOf(fleet, clock.now()),
      });
      background.push(
        playShowcase({
          showcase,
          ...address,
          clock,
          signIn: () => signIn(partner),
          signal,
          onFailure: (error) => log.warn({ err: error }, "the scene of the demo broke off and will be played again"),
        }),
      );
      // So that there is one to look at; by themselves people record one every other day.
      simulation.devices[0]?.recordEcg();
      try {
        const isJson = context.args.has("json");
        io.stdout(
          isJson
            ? `${JSON.stringify(document)}\n`
            : explainDemo(document, { speed, intervalMs, dataDir: context.args.value("data-dir") }),
        );
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
      ending.abort();
      await Promise.allSettled(background);
      await service.close();
    }
    return 0;
  },
};

/** Sends a sample, then every event of the demo as it happens. */
async function feedReceiver(
  context: CommandContext,
  { organization, integrationId, webhookSecret }: DemoAccess,
  { hook }: DemoReceiver,
  signal: AbortSignal,
): Promise<void> {
  const { config, clock, log } = context;
  // Before the sample is on its way: the scene does not wait for it.
  const afterId = uuidV7Floor(clock.nowMs());
  const sample = sampleEvent("webhook.test", integrationId, clock.now());
  await sendEvent({ config, clock }, hook, sample, { current: webhookSecret, previous: null });
  const owner = { organizationId: organization.id, integrationId };
  try {
    await withDatabase(context, (db) =>
      forwardEvents({
        config,
        clock,
        db,
        owner,
        url: hook,
        afterId,
        ownSecret: webhookSecret,
        onStart: () => undefined,
        onSent: () => true,
        signal,
      }),
    );
  } catch (error) {
    log.error({ err: error }, "events no longer go to the receiver of the demo");
  }
}

/** A gateway that listens on all addresses is reached on this machine. */
function addressOf(gateway: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${gateway}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port: Number(port) };
}

const readyDocument = (
  { http, gateway, ops }: { http: string; gateway: string; ops: string },
  { organization, integrationId, clientId, clientSecret, ownerPassword, webhookSecret }: DemoAccess,
  content: DemoContent,
  fleet: readonly FleetMember[],
  { caller, spare, phone }: Showcase,
  receiver: DemoReceiver | undefined,
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
  devices: fleet.map(({ imei }) => imei),
  showcase: { caller: caller.imei, spare: spare.imei, phone: phone.imei },
  webhook_secret: webhookSecret,
  receiver: receiver ? { page: receiver.page, hook: receiver.hook, webhook_secret: webhookSecret } : null,
});

export const demoCommands: readonly Command[] = [demo];
