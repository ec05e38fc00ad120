import type { ProtocolDefinition, Session } from "../../src/codecs/protocol-definition.ts";
import { protocols } from "../../src/codecs/protocols.ts";
import { makeEcg } from "../../src/simulator/ecg.ts";
import { fleetMember, rome } from "../../src/simulator/fleet.ts";
import { momentAt } from "../../src/simulator/life.ts";
import { sightingAt } from "../../src/simulator/sighting.ts";
import { virtualProtocols } from "../../src/simulator/virtual-protocols.ts";
import { makeAmr } from "../../src/simulator/voice.ts";
import { feed } from "../support/codec-harness.ts";
import type { FuzzTarget } from "./fuzz.ts";
import { damage, type Random } from "./mutations.ts";

/** Every protocol of the list, with frames that its virtual devices write. A protocol that is added is fuzzed without a line here. */
const nowMs = Date.parse("2026-03-02T11:00:00Z");

function makeTarget(protocol: ProtocolDefinition, slug: (typeof protocols)[number]["slug"]): FuzzTarget {
  const member = fleetMember(5, 1, slug, { ...rome, utcOffsetMinutes: 60 });
  const life = momentAt(member.person, nowMs);
  const snapshot = { atMs: nowMs, life, seen: sightingAt(member.person, nowMs, life, true) };
  const seeds = (virtualProtocols[slug] ?? []).flatMap(({ make }) => {
    const device = make("tcp");
    return [
      device.login(member, snapshot),
      device.heartbeat(member, snapshot),
      device.location(member, snapshot, false),
      device.location(member, snapshot, true),
      device.alarm(member, snapshot, "sos"),
      ...device.readings(member, snapshot, "all"),
      ...device.voice(member, snapshot, makeAmr(1, 1)),
      ...device.ecg(member, makeEcg(1, 70, nowMs, 2)).slice(0, 3),
    ].map(({ bytes }) => bytes);
  });
  const device: NonNullable<Session["device"]> = {
    imei: member.imei,
    id: member.id,
    utcOffsetMinutes: 60,
    traits: {},
    locale: "it",
    outstandingSerials: new Set(["1", "000001"]),
  };
  const world = { protocol, nowMs, device };
  const read = (isKnown: boolean, pieces: readonly Buffer[]): string => {
    const session: Session = { nowMs, device: isKnown ? device : undefined, memory: new Map() };
    return JSON.stringify(feed(world, session, pieces).frames);
  };
  return {
    name: `codec ${slug}`,
    run: (random: Random) => {
      const input = Buffer.concat(Array.from({ length: 1 + random.below(3) }, () => damage(seeds, random)));
      const isKnown = random.below(2) === 0;
      const cut = random.below(input.length + 1);
      protocol.recognizes(input);
      const whole = read(isKnown, [input]);
      if (whole !== read(isKnown, [input.subarray(0, cut), input.subarray(cut)])) {
        throw new Error(`the cut at ${cut} changes what is read of ${input.toString("hex")}`);
      }
      return input;
    },
  };
}

export const codecTargets: readonly FuzzTarget[] = protocols.map((protocol) => makeTarget(protocol, protocol.slug));
