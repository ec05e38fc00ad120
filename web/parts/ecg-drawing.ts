/** How an ECG is drawn: 25 mm of paper for a second, 10 mm for a millivolt, whatever size a millimetre has on the screen. */
export const mmPerSecond = 25;
export const mmPerMillivolt = 10;
const minHalfHeightMm = 10;
/** Where a lead shows an amplitude that no heart has, the paper does not grow with it. */
const maxHalfHeightMm = 40;

export interface LeadSamples {
  name: string;
  /** Millivolts; null where a part of the recording never came. */
  millivolts: (number | null)[];
}

export interface Recorded {
  sampling_rate_hz: number;
  scale: number;
  offset: number;
  leads: readonly { name: string; samples: readonly (number | null)[] }[];
}

export const leadsOf = ({ scale, offset, leads }: Recorded): LeadSamples[] =>
  leads.map(({ name, samples }) => ({
    name,
    millivolts: samples.map((sample) => (sample === null ? null : (offset + scale * sample) / 1000)),
  }));

/** The width of the paper for so many samples. */
export const widthMm = (sampleCount: number, rateHz: number): number => (sampleCount / rateHz) * mmPerSecond;

/** Half of the height that shows all of a lead, in whole large squares of 5 mm. */
export function halfHeightMm(millivolts: readonly (number | null)[]): number {
  const reachMm = millivolts.reduce<number>((max, value) => Math.max(max, Math.abs(value ?? 0) * mmPerMillivolt), 0);
  return Math.min(maxHalfHeightMm, Math.max(minHalfHeightMm, Math.ceil((reachMm + 1) / 5) * 5));
}

/** The curve as a path in millimetres; a new piece begins behind each gap, so that nothing is drawn that was not recorded. */
export function pathOf(millivolts: readonly (number | null)[], rateHz: number, middleMm: number): string {
  const parts: string[] = [];
  let isDrawing = false;
  for (const [index, value] of millivolts.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    const x = ((index / rateHz) * mmPerSecond).toFixed(2);
    const y = (middleMm - value * mmPerMillivolt).toFixed(2);
    parts.push(`${isDrawing ? "L" : "M"}${x} ${y}`);
    isDrawing = true;
  }
  return parts.join("");
}

export interface Measurement {
  milliseconds: number;
  /** Beats a minute, if the calipers stand on two beats that follow each other; undefined when they stand on one place. */
  perMinute: number | undefined;
  /** From the first to the second caliper; undefined where there is no sample. */
  millivolts: number | undefined;
}

/** What two calipers say, given in seconds from the start. */
export function measure(
  [a, b]: readonly [number, number],
  millivolts: readonly (number | null)[],
  rateHz: number,
): Measurement {
  const [first, second] = a <= b ? [a, b] : [b, a];
  const milliseconds = Math.round((second - first) * 1000);
  const at = (seconds: number): number | null =>
    millivolts[Math.min(millivolts.length - 1, Math.round(seconds * rateHz))] ?? null;
  const [from, to] = [at(first), at(second)];
  return {
    milliseconds,
    perMinute: milliseconds === 0 ? undefined : Math.round(60_000 / milliseconds),
    millivolts: from === null || to === null ? undefined : to - from,
  };
}
