import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type DeviceFences, evaluateDeviceFix, noFences } from "../../src/rules/device-fences.ts";
import type { FenceFix } from "../../src/rules/fence.ts";
import { FenceIndex, type IndexedFence } from "../../src/rules/fence-index.ts";
import { makeScheduleCheck } from "../../src/rules/fence-schedule.ts";
import { between, choose } from "../../src/simulator/random.ts";
import { median, type Row } from "./report.ts";
import { benchRuledPackets } from "./ruled-packets.ts";

const smallest = 1_000;
const sizes = [10_000, 100_000, 1_000_000];
const rounds = 7;
const devices = 500;
const fixesPerDevice = 40;
const beganMs = Date.parse("2026-03-02T12:00:00Z");

/** About a thousand kilometres each way: with more fences there are more of them at every place. */
const country = { south: 40, west: 5, height: 9, width: 12 };
const hours = { timezone: "Europe/Rome", windows: [{ days: [1, 2, 3, 4, 5], start: "07:00", end: "22:00" }] };

const somewhere = (what: string, number: number) => ({
  lat: between(country.south, country.south + country.height, what, "lat", number),
  lng: between(country.west, country.west + country.width, what, "lng", number),
});

/** As the database driver makes it: in one piece. */
const flat = (text: string): string => Buffer.from(text).toString("latin1");

const makeFences = (count: number): IndexedFence[] =>
  Array.from({ length: count }, (_, n) => ({
    id: flat(randomUUID()),
    name: flat(`Place number ${n}`),
    scope: "org" as const,
    ...somewhere("fence", n),
    radiusM: Math.round(between(50, 300, "radius", n)),
    triggerOnEnter: true,
    triggerOnExit: true,
    triggerOnDwell: n % 2 === 0,
    dwellThresholdSeconds: n % 2 === 0 ? 600 : null,
    schedule: n % 4 === 0 ? hours : null,
    revision: "1",
    sinceVersion: 0,
    changedMs: beganMs - n * 1000,
    userId: null,
  }));

interface Organization {
  index: FenceIndex;
  /** By device: every second fix is within some fence, the others are anywhere. */
  fixes: FenceFix[][];
}

function makeIndex(fences: readonly IndexedFence[]): FenceIndex {
  const index = new FenceIndex();
  index.load(fences);
  return index;
}

function makeOrganization(index: FenceIndex, fences: readonly IndexedFence[]): Organization {
  const fixes = Array.from({ length: devices }, (_, device) =>
    Array.from({ length: fixesPerDevice }, (_, n) => {
      const at = n % 2 === 0 ? somewhere("fix", device * fixesPerDevice + n) : choose(fences, "visited", device, n);
      // Six hours from one end of the country to the other is a speed that is believed.
      const tsMs = beganMs + n * 6 * 3_600_000;
      return { tsMs, receivedAtMs: tsMs + 900, lat: at.lat, lng: at.lng, accuracyM: 12, source: "gps" };
    }),
  );
  return { index, fixes };
}

/** Nanoseconds of one fix against all fences of the organization; of the processor, so that others on the machine do not count. */
function timeOf({ index, fixes }: Organization): number {
  const isScheduled = makeScheduleCheck();
  let events = 0;
  const begun = process.cpuUsage();
  for (const [number, own] of fixes.entries()) {
    const fences = index.sourceFor(`device ${number}`, []);
    let device: DeviceFences = noFences;
    for (const fix of own) {
      const outcome = evaluateDeviceFix(device, fences, fix, fix.receivedAtMs, isScheduled);
      device = outcome.device;
      events += outcome.facts.length;
    }
  }
  const { user, system } = process.cpuUsage(begun);
  if (events < devices) throw new Error(`only ${events} events: the fixes miss the fences`);
  return ((user + system) * 1000) / (devices * fixesPerDevice);
}

function heapBytes(): number {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** A fix must not become slower with the number of fences. */
function benchFences(): Row[] {
  const few = makeFences(smallest);
  const small = makeOrganization(makeIndex(few), few);
  const rows: Row[] = [];
  for (const size of sizes) {
    const emptyBytes = heapBytes();
    const fences = makeFences(size);
    const fencesBytes = heapBytes() - emptyBytes;
    const index = makeIndex(fences);
    const bytes = heapBytes() - emptyBytes;
    const large = makeOrganization(index, fences);
    for (const one of [small, large]) timeOf(one);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      bare.push(timeOf(small));
      ours.push(timeOf(large));
    }
    const name = size.toExponential(0);
    rows.push({
      what: `one fix, ${name} fences (bare: 1e3)`,
      ours: median(ours),
      bare: median(bare),
      unit: "ns",
      ratios: ours.map((value, round) => value / (bare[round] as number)),
      goal: 5,
    });
    rows.push({
      what: `memory of a fence, ${name} fences (bare: the fences in a list)`,
      ours: bytes / size,
      bare: fencesBytes / size,
      unit: "B",
      ratios: [bytes / fencesBytes],
    });
  }
  return rows;
}

/** Fences in memory, and the whole way of a packet with and without rules. */
export async function benchRules(): Promise<Row[]> {
  return [...(await benchRuledPackets()), ...benchFences()];
}
