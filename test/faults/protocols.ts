import { rulesOf, type SpokenSlug } from "../../src/codecs/protocols.ts";
import { makeClock } from "../../src/lib/clock.ts";
import type { AlarmKind } from "../../src/simulator/device-protocol.ts";
import { type FleetMember, fleetMember, rome } from "../../src/simulator/fleet.ts";
import type { Person } from "../../src/simulator/itinerary.ts";
import { momentAt } from "../../src/simulator/life.ts";
import { startSimulation } from "../../src/simulator/simulation.ts";
import type { VirtualDevice } from "../../src/simulator/virtual-device.ts";
import { virtualProtocols } from "../../src/simulator/virtual-protocols.ts";
import { fetchTokenOf, makeCredentials, startVigil, tempFolder } from "../support/vigil-process.ts";
import type { FaultOptions } from "./faults.ts";

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Life passes so fast that an hour of a day takes three minutes. */
const speed = 20;
const hourMs = 3_600_000;
const minuteMs = 60_000;
/** A morning in which people go out. */
const lifeStartMs = Date.parse("2026-03-02T08:30:00Z");
const alarms: readonly AlarmKind[] = ["sos", "fall", "low_battery"];
/** Commands that end the connection come last. */
const endings = ["restart", "power_off", "factory_reset"];
const params: Readonly<Record<string, object>> = {
  send_message: { text: "Come stai?" },
  set_working_mode: { mode: "emergency" },
  set_timezone: { timezone: "Asia/Kolkata" },
  set_report_interval: { interval_seconds: 30 },
  set_sos_numbers: { numbers: ["+393331112222"] },
  set_contacts: { contacts: [{ name: "Anna", phone: "+393334445555" }] },
  set_fall_detection: { enabled: true, sensitivity: 2 },
  set_heart_rate_interval: { enabled: true, interval_minutes: 30 },
  set_temperature_interval: { enabled: true, interval_minutes: 30 },
  calibrate_bp: { sbp: 120, dbp: 80 },
};

interface Capability {
  code: string;
  kind: string;
  supported: boolean;
}

/** Indoors a watch has no position to report. */
const minutesOutdoors = (person: Person): number =>
  Array.from({ length: hourMs / minuteMs }, (_, minute) => momentAt(person, lifeStartMs + minute * minuteMs)).filter(
    ({ isIndoor }) => !isIndoor,
  ).length;

/**
 * An hour in the day of one device of every virtual model, against a running service and from outside: each reports, raises every
 * alarm it can, and is sent every command that the API lists for it, and a text where it takes texts.
 */
export async function protocolFaults({ seed }: FaultOptions): Promise<boolean> {
  const folder = await tempFolder();
  const where = ["--data-dir", folder.path];
  const env = { VIGIL_LOG_LEVEL: "fatal", VIGIL_GATEWAY_HOST: "127.0.0.1", VIGIL_COMMAND_ACK_TIMEOUT_SECONDS: "20" };
  const service = await startVigil(where, env);
  const token = await fetchTokenOf(service.http, await makeCredentials(where, env));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${service.http}/api/v1/${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const value = (await answer.json()) as T;
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(value)}`);
    return value;
  };

  const fleet: FleetMember[] = [];
  const models = Object.entries(virtualProtocols).flatMap(([slug, found]) =>
    (found ?? []).map(({ modelSlug }) => ({ slug: slug as SpokenSlug, modelSlug })),
  );
  for (const [index, { slug, modelSlug }] of models.entries()) {
    const member = { ...fleetMember(seed, index + 1, slug, { ...rome, utcOffsetMinutes: 60 }), modelSlug };
    await call("POST", "devices/", { uid: member.imei, device_model_slug: modelSlug, name: modelSlug });
    fleet.push({ ...member, id: rulesOf(slug).terminalIds.defaultFor(member.imei) ?? member.imei });
  }
  const simulation = startSimulation({
    fleet,
    host: "127.0.0.1",
    port: Number(service.gateway.split(":").at(-1)),
    clock: makeClock(),
    intervalMs: 5000,
    speed,
    lifeStartMs,
    timings: { restartMs: 500, powerOffMs: 2000, backoffMs: [500] },
  });
  const endsAtMs = Date.now() + hourMs / speed;

  async function settle(uid: string, id: string): Promise<string> {
    for (let waitedMs = 0; waitedMs < 90_000; waitedMs += 250) {
      const path = `devices/${uid}/commands/${id}/`;
      const { status, terminal } = await call<{ status: string; terminal: boolean }>("GET", path);
      if (terminal) return status;
      await pause(250);
    }
    return "still open";
  }

  /** What went wrong with one device; nothing is best. */
  async function drill(device: VirtualDevice): Promise<string[]> {
    const { imei: uid, modelSlug } = device.member;
    const wrong: string[] = [];
    for (let waitedMs = 0; !device.isOnline && waitedMs < 30_000; waitedMs += 100) await pause(100);
    if (!device.isOnline) return [`${modelSlug}: never online`];
    for (const alarm of alarms) device.raiseAlarm(alarm);
    const path = `devices/${uid}/capabilities/`;
    const { capabilities: listed } = await call<{ capabilities: Capability[] }>("GET", path);
    const commands = listed.filter(({ kind, supported }) => kind === "command" && supported).map(({ code }) => code);
    const inOrder = [
      ...commands.filter((code) => !endings.includes(code)),
      ...endings.filter((code) => commands.includes(code)),
    ];
    let acknowledged = 0;
    for (const code of inOrder) {
      const { command_uuid: id } = await call<{ command_uuid: string }>("POST", `devices/${uid}/commands/`, {
        command_type: code,
        params: params[code] ?? {},
      });
      const status = await settle(uid, id);
      if (status === "ack_ok") acknowledged++;
      else wrong.push(`${modelSlug}: ${code} ended as ${status}`);
    }
    while (Date.now() < endsAtMs) await pause(500);
    const events = await call<{ results: { event_type: string }[] }>("GET", `events/?device_uid=${uid}&page_size=200`);
    const seen = new Set(events.results.map(({ event_type }) => event_type));
    const known = new Set(listed.filter(({ kind }) => kind === "event" || kind === "alarm").map(({ code }) => code));
    if (!seen.has("sos")) wrong.push(`${modelSlug}: no event of its SOS`);
    for (const alarm of ["fall", "low_battery"]) {
      if (known.has(alarm) && !seen.has(alarm)) wrong.push(`${modelSlug}: no event of ${alarm}`);
    }
    const places = await call<{ results: unknown[] }>("GET", `devices/${uid}/locations/?page_size=1`);
    // After the commands a watch reports every 20 to 30 s of ours, which are up to ten minutes of its day.
    if (places.results.length === 0 && minutesOutdoors(device.member.person) > 20)
      wrong.push(`${modelSlug}: no position`);
    console.log(
      `  ${modelSlug}: ${acknowledged} of ${inOrder.length} commands, events ${[...seen].toSorted().join(" ")}`,
    );
    return wrong;
  }

  try {
    const wrong = (await Promise.all(simulation.devices.map(drill))).flat();
    const { tally } = simulation;
    console.log(`  ${tally.acked} packets acknowledged, ${tally.unreadable} answers unreadable`);
    for (const line of wrong) console.log(`  WRONG ${line}`);
    return wrong.length === 0 && tally.unreadable === 0;
  } finally {
    simulation.close();
    await service.kill("SIGTERM");
    await folder.remove();
  }
}
