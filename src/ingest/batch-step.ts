import type { Client } from "pg";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import type { DeviceHold } from "./device-memory.ts";
import type { BatchRows } from "./ingest-rows.ts";

/** A packet that was not stored before. */
export interface AcceptedPacket {
  hold: DeviceHold;
  messages: readonly TrackerMessage[];
  receivedAtMs: number;
  /** Why the part of a recording in it is not taken. Set by a step; those after it leave the part alone. */
  refusal?: PartRefusal | undefined;
}

/** `model`: the device has no ECG. `quota`: it has sent enough for a day. `size`: the recording would be too large. */
export type PartRefusal = "model" | "quota" | "size";

/** The order in which steps lock their rows; packets of one device keep theirs. */
export const byDeviceId = (a: Pick<AcceptedPacket, "hold">, b: Pick<AcceptedPacket, "hold">): number =>
  a.hold.device.id < b.hold.device.id ? -1 : Number(a.hold.device.id > b.hold.device.id);

/**
 * A concern of its own that takes part in the transaction of a batch (answers to commands, voice, ECG). It runs when the state
 * rows of the devices are written and locked, and before events and outbound rows are: it may add to them. It keeps nothing in
 * memory, because the attempt may fail after it; it sends a statement only when a packet concerns it; it locks its rows in the
 * order of device ids.
 */
export interface BatchStep {
  (client: Client, packets: readonly AcceptedPacket[], rows: BatchRows, nowMs: number): Promise<void>;
  /** False: none of the packets concerns it. A step that cannot tell is always run. */
  concerns?(packets: readonly AcceptedPacket[]): boolean;
}

/** What nearly all packets consist of. */
const commonKinds: ReadonlySet<TrackerMessage["kind"]> = new Set(["login", "heartbeat", "fix", "vitals", "alarm"]);
const isUncommon = ({ kind }: TrackerMessage): boolean => !commonKinds.has(kind);

const isConcerned = ({ messages }: AcceptedPacket): boolean => messages.some(isUncommon);

/** Steps that are about other messages than the common ones: most batches have none, and one look at them is enough for all. */
export function forUncommonMessages(steps: readonly BatchStep[]): BatchStep {
  const run: BatchStep = async (client, packets, rows, nowMs) => {
    const concerned = packets.filter(isConcerned);
    if (concerned.length === 0) return;
    for (const step of steps) await step(client, concerned, rows, nowMs);
  };
  run.concerns = (packets) => packets.some(isConcerned);
  return run;
}
