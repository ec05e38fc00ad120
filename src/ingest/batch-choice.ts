import type { DeviceHold } from "./device-memory.ts";
import { isUrgent, type Packet } from "./packet.ts";

/**
 * Which of the packets that wait become the next transaction when not all of them fit. Packets with an alarm go first; the rest
 * is shared between organizations, and within an organization between its devices, so that one sender of large or many packets
 * delays mostly itself. Packets of one device keep their order: those before an alarm go with it.
 */
export interface BatchLimits {
  packets: number;
  /** Of their frames. */
  bytes: number;
}

export interface BatchChoice {
  /** Both in the order of submission. */
  taken: Packet[];
  kept: Packet[];
}

export interface ChoiceOptions {
  limits: BatchLimits;
  /** Another transaction is storing packets of the device. */
  isBusy(hold: DeviceHold): boolean;
  /** Leaves all devices without an alarm to a later batch. */
  isUrgentOnly?: boolean;
}

/** What waits of one device. */
interface Line {
  packets: Packet[];
  /** Packets up to and including the last one with an alarm. */
  urgentCount: number;
  taken: number;
}

export function chooseBatch(waiting: readonly Packet[], options: ChoiceOptions): BatchChoice {
  const lines = linesOf(waiting, options.isBusy);
  const budget = { ...options.limits };
  takeInTurns(lines, budget, ({ urgentCount }) => urgentCount);
  if (!options.isUrgentOnly) takeInTurns(lines, budget, ({ packets }) => packets.length);
  const left = new Map<DeviceHold, number>();
  for (const organization of lines.values()) {
    for (const [hold, { taken }] of organization) if (taken > 0) left.set(hold, taken);
  }
  const choice: BatchChoice = { taken: [], kept: [] };
  for (const packet of waiting) {
    const count = left.get(packet.hold) ?? 0;
    if (count > 0) left.set(packet.hold, count - 1);
    (count > 0 ? choice.taken : choice.kept).push(packet);
  }
  return choice;
}

type Lines = Map<string, Map<DeviceHold, Line>>;

function linesOf(waiting: readonly Packet[], isBusy: (hold: DeviceHold) => boolean): Lines {
  const lines: Lines = new Map();
  for (const packet of waiting) {
    const { hold } = packet;
    if (isBusy(hold)) continue;
    let organization = lines.get(hold.device.organizationId);
    if (!organization) {
      organization = new Map();
      lines.set(hold.device.organizationId, organization);
    }
    let line = organization.get(hold);
    if (!line) {
      line = { packets: [], urgentCount: 0, taken: 0 };
      organization.set(hold, line);
    }
    line.packets.push(packet);
    if (isUrgent(packet)) line.urgentCount = line.packets.length;
  }
  return lines;
}

/** What a device may give before it is the next one's turn. */
const turnBytes = 16 * 1024;

function takeInTurns(lines: Lines, budget: BatchLimits, countOf: (line: Line) => number): void {
  let rings = [...lines.values()].map((organization) =>
    [...organization.values()].filter((line) => line.taken < countOf(line)),
  );
  while (rings.length > 0) {
    const next: Line[][] = [];
    for (const ring of rings) {
      if (budget.packets <= 0 || budget.bytes <= 0) return;
      const line = ring.shift();
      if (!line) continue;
      takeTurn(line, budget, countOf(line));
      if (line.taken < countOf(line)) ring.push(line);
      if (ring.length > 0) next.push(ring);
    }
    rings = next;
  }
}

/** At least one packet, however large. */
function takeTurn(line: Line, budget: BatchLimits, count: number): void {
  let bytes = 0;
  while (line.taken < count && bytes < turnBytes && budget.packets > 0 && budget.bytes > 0) {
    const size = (line.packets[line.taken] as Packet).frame.raw.length;
    line.taken++;
    bytes += size;
    budget.packets--;
    budget.bytes -= size;
  }
}
