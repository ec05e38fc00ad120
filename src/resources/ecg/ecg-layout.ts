/** How the parts of a recording make up its leads, and what is missing. Pure. */

export interface PartSize {
  lead: number;
  /** From 1 to the number of parts of the recording. */
  sequence: number;
  sampleCount: number;
}

/** Samples of one part; of a part that never came when `sequence` is null. */
export interface Stretch {
  sequence: number | null;
  count: number;
}

export interface LeadLayout {
  lead: number;
  name: string;
  stretches: Stretch[];
}

export interface Gap {
  from: number;
  count: number;
}

export interface EcgLayout {
  leads: LeadLayout[];
  /** Of the longest lead, gaps included. */
  sampleCount: number;
  /** Where at least one lead has no samples. */
  missing: Gap[];
  isComplete: boolean;
}

export const leadName = (lead: number): string => (lead === 1 ? "I" : lead === 2 ? "II" : `L${lead}`);

export const durationMs = (sampleCount: number, samplingRateHz: number): number =>
  Math.round((sampleCount * 1000) / samplingRateHz);

/**
 * Devices number the parts of all leads together, or those of each lead from 1: a number that two leads have tells the second
 * kind. A part that is missing is taken to be as long as most parts of its lead are.
 */
export function layOut(parts: readonly PartSize[], total: number): EcgLayout {
  const numbers = [...new Set(parts.map(({ lead }) => lead))].sort((a, b) => a - b);
  const holders = new Map<number, number>();
  for (const { sequence, lead } of parts) holders.set(sequence, lead);
  const isNumberedTogether = numbers.length > 1 && holders.size === parts.length;
  const holderOf = isNumberedTogether ? holdersWithGaps(holders, total) : undefined;
  const leads = numbers.map((lead) => {
    const own = new Map(parts.filter((part) => part.lead === lead).map((part) => [part.sequence, part.sampleCount]));
    const typical = typicalCount([...own.values()]);
    const stretches: Stretch[] = [];
    for (let sequence = 1; sequence <= total; sequence++) {
      if (holderOf && holderOf[sequence] !== lead) continue;
      const count = own.get(sequence);
      stretches.push(count === undefined ? { sequence: null, count: typical } : { sequence, count });
    }
    return { lead, name: leadName(lead), stretches };
  });
  const sampleCount = Math.max(0, ...leads.map(lengthOf));
  for (const lead of leads) {
    const short = sampleCount - lengthOf(lead);
    if (short > 0) lead.stretches.push({ sequence: null, count: short });
  }
  return { leads, sampleCount, missing: gapsOf(leads), isComplete: holders.size === total };
}

const lengthOf = ({ stretches }: LeadLayout): number => stretches.reduce((sum, { count }) => sum + count, 0);

/** By sequence: which lead a part belongs to. A missing one to that of the part before it, else of the one after it. */
function holdersWithGaps(holders: ReadonlyMap<number, number>, total: number): (number | undefined)[] {
  const result: (number | undefined)[] = [];
  let last = holders.get(Math.min(...holders.keys()));
  for (let sequence = 1; sequence <= total; sequence++) {
    last = holders.get(sequence) ?? last;
    result[sequence] = last;
  }
  return result;
}

/** The most frequent; of several the largest, because only the last part of a recording is shorter. */
function typicalCount(counts: readonly number[]): number {
  const times = new Map<number, number>();
  for (const count of counts) times.set(count, (times.get(count) ?? 0) + 1);
  const [typical] = [...times].sort(([a, timesA], [b, timesB]) => timesB - timesA || b - a)[0] ?? [0];
  return typical;
}

function gapsOf(leads: readonly LeadLayout[]): Gap[] {
  const gaps: Gap[] = [];
  for (const { stretches } of leads) {
    let at = 0;
    for (const { sequence, count } of stretches) {
      if (sequence === null && count > 0) gaps.push({ from: at, count });
      at += count;
    }
  }
  const merged: Gap[] = [];
  for (const gap of gaps.sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && gap.from <= last.from + last.count) {
      last.count = Math.max(last.count, gap.from + gap.count - last.from);
    } else merged.push(gap);
  }
  return merged;
}
