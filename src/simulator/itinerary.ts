import { distanceM, moved, type Point, vectorM } from "./ground.ts";
import { between, choose, uniform } from "./random.ts";

/**
 * Where a person is, at any time: pure functions of the person's seed and the day. Every day begins and ends at home, so that
 * each day can be computed without the one before.
 */
export interface City extends Point {
  /** Fixed for a run: summer time does not begin in the middle of it. */
  utcOffsetMinutes: number;
  mcc: number;
  mnc: number;
}

export interface Person {
  seed: number;
  city: City;
}

const placeNames = ["home", "work", "shop", "friend", "park"] as const;
export type PlaceName = (typeof placeNames)[number];

export interface Place extends Point {
  name: PlaceName;
  isIndoor: boolean;
}

export interface Stay {
  kind: "stay";
  place: Place;
  fromMs: number;
  toMs: number;
}

export interface Waypoint extends Point {
  atMs: number;
  /** Metres walked since the start of the walk. */
  walkedM: number;
}

/** From one place to another along streets; two waypoints at the same spot are a pause. */
export interface Walk {
  kind: "walk";
  fromMs: number;
  toMs: number;
  waypoints: readonly Waypoint[];
}

export type Leg = Stay | Walk;

export interface Day {
  startMs: number;
  endMs: number;
  wakesMs: number;
  goesToBedMs: number;
  legs: readonly Leg[];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const dayOf = (person: Person, timeMs: number): number =>
  Math.floor((timeMs + person.city.utcOffsetMinutes * minuteMs) / dayMs);

const startOf = (person: Person, day: number): number => day * dayMs - person.city.utcOffsetMinutes * minuteMs;

export function placeOf(person: Person, name: PlaceName): Place {
  const { seed, city } = person;
  const angle = between(0, 2 * Math.PI, seed, "home angle");
  // The root spreads homes evenly over the area.
  const awayM = 3000 * Math.sqrt(uniform(seed, "home distance"));
  const home = moved(city, awayM * Math.sin(angle), awayM * Math.cos(angle));
  const isIndoor = name !== "park";
  if (name === "home") return { name, isIndoor, ...home };
  const direction = between(0, 2 * Math.PI, seed, name, "angle");
  const walkM = between(350, 1500, seed, name, "distance");
  return { name, isIndoor, ...moved(home, walkM * Math.sin(direction), walkM * Math.cos(direction)) };
}

export function wakingHours(person: Person, day: number): { wakesMs: number; goesToBedMs: number } {
  const startMs = startOf(person, day);
  return {
    wakesMs: startMs + between(6.25, 8.25, person.seed, "wakes", day) * hourMs,
    goesToBedMs: startMs + between(21.75, 23.5, person.seed, "bed", day) * hourMs,
  };
}

interface Outing {
  leavesMs: number;
  stops: readonly { place: PlaceName; stayMs: number }[];
}

/** At most two outings, both over well before bedtime. */
function outingsOf(person: Person, day: number, startMs: number): Outing[] {
  const { seed } = person;
  const outings: Outing[] = [];
  const isWeekday = ((((day + 4) % 7) + 7) % 7) % 6 !== 0;
  const errand = (salt: string): Outing["stops"][number] => ({
    place: choose(["shop", "friend", "park"] as const, seed, salt, day),
    stayMs: between(15, 75, seed, salt, "stay", day) * minuteMs,
  });
  if (uniform(seed, "has a job") < 0.4 && isWeekday) {
    const stayMs = between(4, 7.5, seed, "work hours", day) * hourMs;
    outings.push({
      leavesMs: startMs + between(8.5, 9.25, seed, "to work", day) * hourMs,
      stops: [{ place: "work", stayMs }],
    });
  } else if (uniform(seed, "morning", day) < 0.85) {
    const first = errand("first");
    const second = errand("second");
    const stops = uniform(seed, "goes on", day) < 0.3 && first.place !== second.place ? [first, second] : [first];
    outings.push({ leavesMs: startMs + between(9, 11, seed, "leaves", day) * hourMs, stops });
  }
  if (uniform(seed, "afternoon", day) < 0.55) {
    outings.push({
      leavesMs: startMs + between(17.75, 18.5, seed, "leaves late", day) * hourMs,
      stops: [errand("late")],
    });
  }
  return outings;
}

export function planDay(person: Person, day: number): Day {
  const startMs = startOf(person, day);
  const endMs = startMs + dayMs;
  const home = placeOf(person, "home");
  const legs: Leg[] = [];
  let nowMs = startMs;
  let here = home;
  const stay = (toMs: number): void => {
    legs.push({ kind: "stay", place: here, fromMs: nowMs, toMs });
    nowMs = toMs;
  };
  const walkTo = (place: Place): void => {
    const walk = planWalk(person, here, place, nowMs, `${day}/${legs.length}`);
    legs.push(walk);
    nowMs = walk.toMs;
    here = place;
  };
  for (const { leavesMs, stops } of outingsOf(person, day, startMs)) {
    stay(Math.max(leavesMs, nowMs + minuteMs));
    for (const stop of stops) {
      walkTo(placeOf(person, stop.place));
      stay(nowMs + stop.stayMs);
    }
    walkTo(home);
  }
  stay(endMs);
  return { startMs, endMs, legs, ...wakingHours(person, day) };
}

// Spelled out: spreading objects made a day five times as slow to plan.
const waypoint = ({ lat, lng }: Point, atMs: number, walkedM: number): Waypoint => ({ lat, lng, atMs, walkedM });

/** Streets form a grid that is turned by an angle of the city; the way goes along it in a few bends. */
function planWalk(person: Person, from: Place, to: Place, fromMs: number, salt: string): Walk {
  const { seed, city } = person;
  const angle = between(0, Math.PI / 2, Math.round(city.lat * 1000), Math.round(city.lng * 1000), "grid");
  const { eastM, northM } = vectorM(from, to);
  const alongM = eastM * Math.cos(angle) + northM * Math.sin(angle);
  const acrossM = northM * Math.cos(angle) - eastM * Math.sin(angle);
  const bends = 1 + Math.floor(uniform(seed, "bends", salt) * 4);
  const speedMs = between(1.0, 1.45, seed, "pace");
  const spots: Point[] = [];
  for (let bend = 1; bend <= bends; bend++) {
    for (const [a, b] of [
      [bend, bend - 1],
      [bend, bend],
    ] as const) {
      const [alongPart, acrossPart] = [(alongM * a) / bends, (acrossM * b) / bends];
      const partEastM = alongPart * Math.cos(angle) - acrossPart * Math.sin(angle);
      const partNorthM = alongPart * Math.sin(angle) + acrossPart * Math.cos(angle);
      spots.push(moved(from, partEastM, partNorthM));
    }
  }
  spots[spots.length - 1] = { lat: to.lat, lng: to.lng };

  let last = waypoint(from, fromMs, 0);
  const waypoints = [last];
  for (const [index, spot] of spots.entries()) {
    const partM = distanceM(last, spot);
    const paceMs = speedMs * between(0.9, 1.1, seed, "pace", salt, index);
    last = waypoint(spot, last.atMs + (partM / paceMs) * 1000, last.walkedM + partM);
    waypoints.push(last);
    if (index < spots.length - 1 && uniform(seed, "pause", salt, index) < 0.35) {
      const isRest = uniform(seed, "bench", salt, index) < 0.15;
      const pauseMs = between(isRest ? 120 : 8, isRest ? 300 : 60, seed, "pause length", salt, index) * 1000;
      last = waypoint(last, last.atMs + pauseMs, last.walkedM);
      waypoints.push(last);
    }
  }
  return { kind: "walk", fromMs, toMs: last.atMs, waypoints };
}

/** True stays within a window and cut to it, in order; nights at home are one stay. */
export function trueStays(person: Person, fromMs: number, toMs: number): Stay[] {
  const stays: Stay[] = [];
  for (let day = dayOf(person, fromMs); day <= dayOf(person, toMs - 1); day++) {
    for (const leg of planDay(person, day).legs) {
      if (leg.kind !== "stay" || leg.toMs <= fromMs || leg.fromMs >= toMs) continue;
      const last = stays.at(-1);
      const end = Math.min(leg.toMs, toMs);
      if (last && last.toMs === leg.fromMs) last.toMs = end;
      else stays.push({ ...leg, fromMs: Math.max(leg.fromMs, fromMs), toMs: end });
    }
  }
  return stays;
}
