import type { Clock } from "../lib/clock.ts";
import { makeEcg } from "../simulator/ecg.ts";
import { type FleetMember, fleetMember, makeProtocols } from "../simulator/fleet.ts";
import { moved } from "../simulator/ground.ts";
import { type City, placeOf } from "../simulator/itinerary.ts";
import { makeLinks } from "../simulator/link.ts";
import { ScriptedDevice } from "../simulator/scripted-device.ts";
import { showcaseModels } from "../simulator/virtual-protocols.ts";
import { makeAmr } from "../simulator/voice.ts";
import type { Call, Json } from "./demo-partner.ts";
import { rest } from "./event-forwarding.ts";

/**
 * Three devices that play the same short scene again and again, so that a partner meets every type of event within two minutes:
 * a watch that calls for help first, a spare one that is never switched on, and a phone that is switched off.
 */
export interface Showcase {
  caller: FleetMember;
  spare: FleetMember;
  phone: FleetMember;
}

/** After the numbers of the fleet. */
const firstNumber = 1001;
const dwellSeconds = 5;
const spareSeconds = 5;
const stepMs = 1100;
const ecgSeconds = 10;
const betweenScenesMs = 5 * 60_000;
const retryMs = 5000;

type Model = (typeof showcaseModels)[keyof typeof showcaseModels];

const member = (
  seed: number,
  index: number,
  { protocol, modelSlug }: Model,
  city: City,
  name: string,
): FleetMember => ({
  ...fleetMember(seed, firstNumber + index, protocol, city),
  modelSlug,
  name,
});

export const planShowcase = (seed: number, city: City): Showcase => ({
  caller: member(seed, 0, showcaseModels.caller, city, "Showcase watch"),
  spare: member(seed, 1, showcaseModels.caller, city, "Spare watch, switched off"),
  phone: member(seed, 2, showcaseModels.phone, city, "Showcase phone"),
});

export const showcaseFenceName = "Home of the showcase";

export const showcaseFence = ({ caller }: Showcase): Json => {
  const { lat, lng } = placeOf(caller.person, "home");
  const stay = { trigger_on_dwell: true, dwell_threshold_seconds: dwellSeconds };
  return { name: showcaseFenceName, center: { lat, lng }, radius: 150, ...stay };
};

export const showcaseThreshold = ({ caller }: Showcase): Json => ({
  scope: "Device",
  device: caller.imei,
  metric_key: "hr",
  low: 45,
  high: 120,
  cooldown_seconds: 0,
});

export interface PlayOptions {
  showcase: Showcase;
  host: string;
  port: number;
  clock: Clock;
  /** Signs in as the partner of the demo. */
  signIn(): Promise<Call>;
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** Plays until the signal ends it. A scene that breaks off is begun again. */
export async function playShowcase(options: PlayOptions): Promise<void> {
  const { signal } = options;
  while (!signal.aborted) {
    const waitMs = await playScene(options).then(
      () => betweenScenesMs,
      (error) => {
        if (!signal.aborted) options.onFailure(error);
        return retryMs;
      },
    );
    await rest(waitMs, signal);
  }
}

async function playScene({ showcase, host, port, clock, signIn, signal }: PlayOptions): Promise<void> {
  const { caller: watch, spare } = showcase;
  const home = placeOf(watch.person, "home");
  const away = moved(home, 0, 600);
  const protocol = makeProtocols()(watch);
  const device = new ScriptedDevice({
    member: watch,
    protocol,
    openLink: makeLinks(host, port),
    nowMs: () => clock.nowMs(),
  });
  const stop = (): void => device.close();
  signal.addEventListener("abort", stop, { once: true });
  const step = (): Promise<void> => rest(stepMs, signal);
  /** Two fixes: one that is far from the last might be an error of the receiver. */
  const go = async (place: { lat: number; lng: number }): Promise<void> => {
    for (let fix = 0; fix < 2; fix++) {
      await device.send(protocol.location(watch, device.snapshot(place), false));
      await step();
    }
  };
  try {
    const call = await signIn();
    await device.connect(home);
    await device.send(protocol.alarm(watch, device.snapshot(home), "sos"));
    await device.send(protocol.alarm(watch, device.snapshot(home), "fall"));
    // Command and message fail together, because the watch is not reached in time.
    const lost = { command_type: "send_message", params: { text: "Are you there?" }, expires_in: spareSeconds };
    await call("POST", `/devices/${spare.imei}/commands/`, lost);
    await call("POST", `/devices/${watch.imei}/commands/`, { command_type: "locate_now" });
    await call("POST", `/devices/${watch.imei}/messages/send-text/`, { text: "Help is on its way" });
    await switchOff(showcase, host, port, clock);
    await go(home);
    await go(away);
    await go(home);
    await device.send(...protocol.readings(watch, device.snapshot({ ...home, pulse: 134 }), "pulse"));
    await device.send(protocol.alarm(watch, device.snapshot({ ...home, battery: 12 }), "low_battery"));
    await step();
    await device.send(...protocol.readings(watch, device.snapshot({ ...home, pulse: 72 }), "pulse"));
    await device.send(...protocol.voice(watch, device.snapshot(home), makeAmr(watch.person.seed, 2)));
    const startMs = clock.nowMs() - ecgSeconds * 1000;
    await device.send(...protocol.ecg(watch, makeEcg(watch.person.seed, 72, startMs, ecgSeconds)));
    // The battery is charged again, so that the next scene finds it empty anew.
    await device.send(protocol.heartbeat(watch, device.snapshot(home)));
    // It stays until the stay is an event, and commands that came late are answered.
    await rest(dwellSeconds * 2000, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    device.close();
  }
}

/** A phone reports over HTTP: its place, and that it is being switched off. */
async function switchOff({ phone }: Showcase, host: string, port: number, clock: Clock): Promise<void> {
  const { lat, lng } = placeOf(phone.person, "home");
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  for (const alarm of ["", "&alarm=powerOff"]) {
    const timestamp = Math.floor(clock.nowMs() / 1000);
    const query = `id=${phone.id}&lat=${lat}&lon=${lng}&timestamp=${timestamp}${alarm}`;
    const answer = await fetch(`http://${authority}/?${query}`);
    if (!answer.ok) throw new Error(`the gateway answered the phone with ${answer.status}`);
  }
}
