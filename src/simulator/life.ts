import { bearing, type Point } from "./ground.ts";
import {
  type Day,
  dayOf,
  type Person,
  type PlaceName,
  planDay,
  type Walk,
  type Waypoint,
  wakingHours,
} from "./itinerary.ts";
import { between, uniform, wandering } from "./random.ts";

/** What is true of a person and the watch at one moment. The same person and time always give the same moment. */
export interface Moment extends Point {
  activity: "sleeping" | "resting" | "walking" | "pausing";
  /** Null on the way. */
  place: PlaceName | null;
  isIndoor: boolean;
  speedKmh: number;
  heading: number;
  pulse: number;
  systolic: number;
  diastolic: number;
  oxygen: number;
  temperature: number;
  /** Since local midnight. */
  steps: number;
  battery: number;
  isCharging: boolean;
}

export interface Incident {
  kind: "sos" | "fall" | "voice" | "ecg";
  atMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const stepM = 0.72;
const chargePerHour = 40;

interface Spot extends Point {
  speedKmh: number;
  heading: number;
  walkedM: number;
}

export function momentAt(person: Person, timeMs: number): Moment {
  const { seed } = person;
  const day = planDay(person, dayOf(person, timeMs));
  const leg = day.legs.find(({ toMs }) => timeMs < toMs) ?? day.legs.at(-1);
  if (!leg) throw new Error("a day without legs");
  const isAsleep = timeMs < day.wakesMs || timeMs >= day.goesToBedMs;
  const spot: Spot =
    leg.kind === "walk"
      ? alongWalk(leg, timeMs)
      : { lat: leg.place.lat, lng: leg.place.lng, speedKmh: 0, heading: 0, walkedM: 0 };
  const activity =
    leg.kind === "walk" ? (spot.speedKmh > 0 ? "walking" : "pausing") : isAsleep ? "sleeping" : "resting";
  return {
    lat: spot.lat,
    lng: spot.lng,
    speedKmh: spot.speedKmh,
    heading: spot.heading,
    activity,
    place: leg.kind === "stay" ? leg.place.name : null,
    isIndoor: leg.kind === "stay" && leg.place.isIndoor,
    ...vitals(seed, timeMs, activity),
    steps: stepsUntil(seed, day, timeMs),
    ...batteryAt(person, day, timeMs),
  };
}

/** The true place of a person, without the noise of a receiver. */
export function truePositionAt(person: Person, timeMs: number): Point {
  const { lat, lng } = momentAt(person, timeMs);
  return { lat, lng };
}

function alongWalk({ waypoints }: Walk, timeMs: number): Spot {
  const next = waypoints.findIndex(({ atMs }) => atMs > timeMs);
  const to = (next === -1 ? waypoints.at(-1) : waypoints[next]) as Waypoint;
  const from = (next === -1 ? waypoints.at(-2) : waypoints[next - 1]) as Waypoint;
  const share = Math.min(1, (timeMs - from.atMs) / (to.atMs - from.atMs));
  const partM = to.walkedM - from.walkedM;
  return {
    lat: from.lat + (to.lat - from.lat) * share,
    lng: from.lng + (to.lng - from.lng) * share,
    speedKmh: (partM / (to.atMs - from.atMs)) * 3600,
    heading: partM > 0 ? bearing(from, to) : 0,
    walkedM: from.walkedM + partM * share,
  };
}

const pulseRise = { sleeping: -9, resting: 0, pausing: 16, walking: 30 } as const;

type Vitals = Pick<Moment, "pulse" | "systolic" | "diastolic" | "oxygen" | "temperature">;

function vitals(seed: number, timeMs: number, activity: Moment["activity"]): Vitals {
  const rise = pulseRise[activity];
  const systolic = between(112, 134, seed, "systolic") + rise * 0.35 + 4 * wandering(timeMs, 30 * minuteMs, seed, "bp");
  const gap = between(38, 48, seed, "gap") + rise * 0.2;
  const oxygen = 97.3 - (activity === "sleeping" ? 1 : 0) + 0.7 * wandering(timeMs, 20 * minuteMs, seed, "oxygen");
  const warmth = activity === "sleeping" ? -0.25 : activity === "walking" ? 0.2 : 0;
  return {
    pulse: Math.round(between(62, 76, seed, "pulse") + rise + 3.5 * wandering(timeMs, 2 * minuteMs, seed, "beat")),
    systolic: Math.round(systolic),
    diastolic: Math.round(systolic - gap),
    oxygen: Math.min(100, Math.max(92, Math.round(oxygen))),
    temperature: Math.round((36.5 + warmth + 0.15 * wandering(timeMs, hourMs, seed, "warmth")) * 10) / 10,
  };
}

/** Walks, and a little pottering about while awake. */
function stepsUntil(seed: number, day: Day, timeMs: number): number {
  let walkedM = 0;
  let awakeMs = 0;
  for (const leg of day.legs) {
    if (leg.fromMs >= timeMs) break;
    if (leg.kind === "walk") walkedM += alongWalk(leg, Math.min(timeMs, leg.toMs)).walkedM;
    else awakeMs += Math.max(0, Math.min(timeMs, leg.toMs, day.goesToBedMs) - Math.max(leg.fromMs, day.wakesMs));
  }
  return Math.floor(walkedM / stepM + (awakeMs / minuteMs) * between(1, 4, seed, "potters"));
}

/** Full in the morning; falls all day, on some days far; charged from bedtime on. */
function batteryAt(person: Person, day: Day, timeMs: number): Pick<Moment, "battery" | "isCharging"> {
  const today = dayOf(person, timeMs);
  const atBedtime = (day: number, hours: number): number => {
    const isHeavy = uniform(person.seed, "heavy use", day) < 0.05;
    const perHour = between(3, 4.6, person.seed, "drain") * (isHeavy ? 1.45 : 1);
    return Math.max(4, 100 - perHour * hours);
  };
  const charged = (level: number, sinceMs: number): number =>
    Math.min(100, level + ((timeMs - sinceMs) / hourMs) * chargePerHour);
  let exact: number;
  if (timeMs < day.wakesMs) {
    const { wakesMs, goesToBedMs } = wakingHours(person, today - 1);
    exact = charged(atBedtime(today - 1, (goesToBedMs - wakesMs) / hourMs), goesToBedMs);
  } else if (timeMs < day.goesToBedMs) {
    exact = atBedtime(today, (timeMs - day.wakesMs) / hourMs);
  } else {
    exact = charged(atBedtime(today, (day.goesToBedMs - day.wakesMs) / hourMs), day.goesToBedMs);
  }
  return {
    battery: Math.round(exact),
    isCharging: (timeMs < day.wakesMs || timeMs >= day.goesToBedMs) && exact < 100,
  };
}

/** Chances per day awake: an SOS in about three weeks, a fall in most of a year, a spoken message every few days, an ECG every other day. */
const chances: readonly { kind: Incident["kind"]; perDay: number }[] = [
  { kind: "sos", perDay: 1 / 20 },
  { kind: "fall", perDay: 1 / 250 },
  { kind: "voice", perDay: 1 / 4 },
  { kind: "ecg", perDay: 1 / 2 },
];

function incidentsOf(person: Person, day: number): Incident[] {
  const { wakesMs, goesToBedMs } = wakingHours(person, day);
  return chances
    .filter(({ kind, perDay }) => uniform(person.seed, kind, day) < perDay)
    .map(({ kind }) => ({ kind, atMs: Math.round(between(wakesMs, goesToBedMs, person.seed, kind, "when", day)) }))
    .sort((a, b) => a.atMs - b.atMs);
}

/** After the first time and up to the second. */
export function incidentsBetween(person: Person, afterMs: number, untilMs: number): Incident[] {
  const found: Incident[] = [];
  for (let day = dayOf(person, afterMs); day <= dayOf(person, untilMs); day++) {
    found.push(...incidentsOf(person, day).filter(({ atMs }) => atMs > afterMs && atMs <= untilMs));
  }
  return found;
}

/** The next incident; undefined when a year passes without. */
export function nextIncident(person: Person, afterMs: number): Incident | undefined {
  const today = dayOf(person, afterMs);
  for (let day = today; day < today + 365; day++) {
    const next = incidentsOf(person, day).find(({ atMs }) => atMs > afterMs);
    if (next) return next;
  }
  return undefined;
}
