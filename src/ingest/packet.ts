import type { FrameReport } from "../codecs/protocol-definition.ts";
import type { DecodedFrame } from "../codecs/stream-decoder.ts";
import type { Span } from "../tracing/tracer.ts";
import type { DeviceHold } from "./device-memory.ts";

/** A frame of an accepted device on its way into the database. */
export interface Packet {
  hold: DeviceHold;
  protocol: string;
  frame: DecodedFrame;
  receivedAtMs: number;
  owner: PacketOwner;
  /** Set by the commit: the part of a recording in it was not taken, which is what the device is answered. */
  isRefused?: boolean;
  /** Of its trace, where one is recorded. */
  span?: Span | undefined;
}

/**
 * `stored`: it is committed, or was before, and may be answered. `stale`: a newer connection has the device. `lost`: the
 * service closes. `deferred`: there is no room for it; it is not answered, and the device may send it again.
 */
export type Outcome = "stored" | "stale" | "lost" | "deferred";

/** Told once per packet, in the order of submission. */
export interface PacketOwner {
  packetSettled(packet: Packet, outcome: Outcome): void;
}

/** What a packet holds in memory beside its bytes, about. */
const packetOverheadBytes = 500;

export const sizeOf = ({ frame }: { frame: DecodedFrame }): number => frame.raw.length + packetOverheadBytes;

/** It calls for help or warns: it is stored before packets that only report. */
export const isUrgent = ({ frame }: { frame: DecodedFrame }): boolean =>
  frame.messages.some(({ kind }) => kind === "alarm");

/** What is stored, or found to be stored, by itself: the reports of the frame, else the frame as a whole. */
export const reportsOf = (frame: DecodedFrame): readonly FrameReport[] => frame.reports ?? [frame];

/** Null: no clock in the report, so that it cannot be distinguished from another one of the same content. */
export function deviceTimeOf({ messages }: FrameReport): number | null {
  for (const message of messages) {
    // Parts of recordings are identified by their place: one that was forgotten with its recording is new again.
    if (message.kind === "voice_part") continue;
    if ("deviceTimeMs" in message && message.deviceTimeMs !== null) return message.deviceTimeMs;
  }
  return null;
}

export function oldestArrival(packets: readonly Packet[]): number {
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const { receivedAtMs } of packets) oldestMs = Math.min(oldestMs, receivedAtMs);
  return oldestMs;
}
