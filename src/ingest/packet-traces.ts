import type { TraceOfFact } from "../outbox/numbered-rows.ts";
import type { Span, Tracer } from "../tracing/tracer.ts";
import type { Outcome, Packet } from "./packet.ts";

const maxLinks = 100;

/** From its arrival to its answer. */
export const beginPacket = (tracer: Tracer, { protocol, frame }: Packet): Span | undefined =>
  tracer.begin(`packet ${protocol}`, {
    kind: "consumer",
    attributes: { "vigil.protocol": protocol, "vigil.frame_bytes": frame.raw.length },
  });

export const endPacket = (span: Span, outcome: Outcome): void => span.end({ attributes: { "vigil.outcome": outcome } });

/** One attempt to store a batch: a span in the trace of its first packet that has one, linked to the others. */
export async function traceAttempt<T>(
  tracer: Tracer,
  packets: readonly Packet[],
  attempt: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = packets.flatMap(({ span }) => span ?? []);
  if (!first) return attempt();
  const span = first.child("store batch", {
    attributes: { "vigil.packets": packets.length },
    links: others.slice(0, maxLinks).map(({ context }) => context),
  });
  try {
    const result = await tracer.run(span, attempt);
    span.end();
    return result;
  } catch (error) {
    span.end({ error: (error as Error).name });
    throw error;
  }
}

const keyOf = (organizationId: string, deviceUid: string): string => `${organizationId} ${deviceUid}`;

/** The trace of an outbound row is that of a packet of its device. */
export function tracesOfDevices(packets: readonly Packet[]): TraceOfFact {
  const traces = new Map<string, string>();
  for (const { span, hold } of packets) {
    if (span) traces.set(keyOf(hold.device.organizationId, hold.device.uid), span.traceparent);
  }
  return ({ organizationId, deviceUid }) => traces.get(keyOf(organizationId, deviceUid)) ?? null;
}
