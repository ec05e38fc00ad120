import { makeManualClock } from "../../src/lib/clock.ts";
import { distanceM, type Point } from "../../src/lib/geo.ts";
import { type FleetMember, makeFleet, rome } from "../../src/simulator/fleet.ts";
import { type PlaceName, placeOf } from "../../src/simulator/itinerary.ts";
import { momentAt, truePositionAt } from "../../src/simulator/life.ts";
import { sightingAt } from "../../src/simulator/sighting.ts";
import { gpsFix, openGatewayWorld } from "./gateway.ts";
import { rulesOf } from "./live-rules.ts";
import type { Tracker } from "./tracker.ts";

/**
 * A day of simulated people with noisy receivers, as fast as the service takes it: the clock moves from report to report, packets
 * go over real sockets, and timers run as a worker runs them. What fences say is held against where the people really were.
 */
export interface DayOptions {
  people: number;
  seed: number;
  /** Local hours. */
  from: number;
  to: number;
  reportSeconds: number;
  log?(line: string): void;
}

export interface DayResult {
  packets: number;
  /** Changes that were surely to be told, by kind. */
  wanted: Record<Kind, number>;
  misses: string[];
  falseAlarms: string[];
  /** Told of people who really stood so close to the boundary that a receiver indoors cannot know the side. */
  undecided: number;
}

type Kind = "enter" | "exit" | "dwell";

const radiusM = 150;
const bandM = 20;
/** Accuracy that receivers claim indoors. */
const indoorsM = 30;
const dwellSeconds = 600;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const utcOffsetMinutes = 60;
const kinds: Readonly<Record<number, Kind>> = { 80: "enter", 90: "exit", 100: "dwell" };

/** A time within a fence; null: it was there before the day began, or still is when it ends. */
interface Passage {
  enteredMs: number | null;
  leftMs: number | null;
}

export async function simulateDay(options: DayOptions): Promise<DayResult> {
  const { people, seed, from, to, reportSeconds } = options;
  const localMidnightMs = Date.UTC(2026, 2, 2) - utcOffsetMinutes * minuteMs;
  const [startMs, endMs] = [localMidnightMs + from * 60 * minuteMs, localMidnightMs + to * 60 * minuteMs];
  const clock = makeManualClock(new Date(startMs));
  const world = await openGatewayWorld(clock);
  try {
    const gateway = await world.open({ limits: { idleTimeoutMs: 3_600_000 } });
    const rules = rulesOf(world);
    const fleet = makeFleet(seed, people, "iw", { ...rome, utcOffsetMinutes });
    const walkers: Walker[] = [];
    for (const member of fleet) {
      const id = await world.addDevice(member.imei);
      const fences = new Map<string, PlaceName>();
      for (const name of ["home", "work"] as const) {
        const { lat, lng } = placeOf(member.person, name);
        fences.set(await rules.addFence({ name, lat, lng, radiusM, dwellSeconds, devices: [id] }), name);
      }
      walkers.push({ id, member, fences, tracker: await gateway.tracker(member.imei) });
    }
    let packets = 0;
    for (let timeMs = startMs, n = 1; timeMs < endMs; timeMs += reportSeconds * 1000, n++) {
      clock.set(new Date(timeMs));
      const sent: Tracker[] = [];
      for (const { member, tracker } of walkers) {
        const { gps } = sightingAt(member.person, timeMs, momentAt(member.person, timeMs), true);
        if (gps === null) continue;
        const { lat, lng, accuracyM, speedKmh } = gps;
        tracker.send(n, [gpsFix(timeMs, lat, lng, { accuracyM, speedKmh })]);
        sent.push(tracker);
      }
      packets += sent.length;
      for (const tracker of sent) await tracker.until(`ok ${n}`);
      for (const { tracker } of walkers) tracker.lines.length = 0;
      await rules.runTimersAtOnce(1);
      if (n % 120 === 0) options.log?.(`  ${new Date(timeMs).toISOString().slice(11, 16)} UTC, ${packets} packets`);
    }
    const result: DayResult = {
      packets,
      wanted: { enter: 0, exit: 0, dwell: 0 },
      misses: [],
      falseAlarms: [],
      undecided: 0,
    };
    for (const walker of walkers) {
      const events = await rules.ruleEvents(walker.id);
      const track = trackOf(walker, startMs, endMs);
      for (const [fenceId, name] of walker.fences) {
        const reported = events
          .filter(({ fence_id, event_type }) => fence_id === fenceId && event_type in kinds)
          .map(({ event_type, ts }) => ({ kind: kinds[event_type] as Kind, atMs: (ts as Date).getTime() }));
        compare(
          result,
          `${walker.member.name} ${name}`,
          passagesOf(track, placeOf(walker.member.person, name)),
          reported,
          options,
          [startMs, endMs],
          (atMs) => distanceM(placeOf(walker.member.person, name), truePositionAt(walker.member.person, atMs)),
        );
      }
    }
    return result;
  } finally {
    await world.close();
  }
}

interface Walker {
  id: string;
  member: FleetMember;
  fences: Map<string, PlaceName>;
  tracker: Tracker;
}

interface TruePlace extends Point {
  timeMs: number;
}

/** The truth, every ten seconds. */
function trackOf({ member }: Walker, startMs: number, endMs: number): TruePlace[] {
  const track: TruePlace[] = [];
  for (let timeMs = startMs; timeMs < endMs; timeMs += 10_000) {
    track.push({ ...truePositionAt(member.person, timeMs), timeMs });
  }
  return track;
}

/** With the band around the boundary that the rules leave undecided. */
function passagesOf(track: readonly TruePlace[], centre: Point): Passage[] {
  const passages: Passage[] = [];
  let isInside: boolean | undefined;
  for (const place of track) {
    const distance = distanceM(centre, place);
    const now = distance <= radiusM ? true : distance > radiusM + bandM ? false : isInside;
    if (now === isInside || now === undefined) continue;
    if (now) passages.push({ enteredMs: isInside === undefined ? null : place.timeMs, leftMs: null });
    else if (isInside) (passages.at(-1) as Passage).leftMs = place.timeMs;
    isInside = now;
  }
  return passages;
}

/**
 * A passage of fewer than three reports may be told or not: nobody may have seen it. What is told is told until the passage is
 * over, or soon after its end.
 */
function compare(
  result: DayResult,
  who: string,
  passages: readonly Passage[],
  reported: readonly { kind: Kind; atMs: number }[],
  { reportSeconds }: DayOptions,
  [startMs, endMs]: readonly [number, number],
  trueDistanceAt: (timeMs: number) => number,
): void {
  const slackMs = 3 * reportSeconds * 1000 + minuteMs;
  const left = [...reported];
  const take = (kind: Kind, fromMs: number, untilMs: number): boolean => {
    const at = left.findIndex((one) => one.kind === kind && one.atMs >= fromMs && one.atMs <= untilMs);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  const want = (kind: Kind, isSure: boolean, fromMs: number, untilMs: number): void => {
    if (isSure) result.wanted[kind]++;
    if (!take(kind, fromMs, untilMs) && isSure) result.misses.push(`${who}: ${kind} ${new Date(fromMs).toISOString()}`);
  };
  for (const { enteredMs, leftMs } of passages) {
    const [fromMs, untilMs] = [enteredMs ?? startMs, leftMs ?? endMs];
    const isSure = untilMs - fromMs > slackMs;
    if (enteredMs !== null) want("enter", isSure && endMs - fromMs > slackMs, fromMs - slackMs, untilMs + slackMs);
    if (leftMs !== null)
      want("exit", isSure && endMs - leftMs > slackMs, leftMs - slackMs, leftMs + slackMs + 30 * minuteMs);
    const staysMs = untilMs - fromMs - dwellSeconds * 1000;
    // Who is there when the day begins is known to be with the first fix, and indoors there are few.
    want("dwell", staysMs > slackMs + (enteredMs === null ? hourMs : 0), fromMs, untilMs + slackMs);
  }
  for (const { kind, atMs } of left) {
    const distance = trueDistanceAt(atMs);
    if (distance > radiusM - indoorsM && distance < radiusM + bandM + indoorsM) result.undecided++;
    else result.falseAlarms.push(`${who}: ${kind} ${new Date(atMs).toISOString()}`);
  }
}
