import type { Message } from "../api/types.ts";

const order: Readonly<Record<Message["device_delivery_status"], number>> = {
  pending: 0,
  processing: 1,
  ready: 2,
  sending: 3,
  delivered: 4,
  failed: 4,
};

/** Still on its way to the device. */
export const isUnderWay = ({ direction, device_delivery_status: status }: Message): boolean =>
  direction === "outbound" && status !== "delivered" && status !== "failed";

/**
 * Both lists as one in the order of time, each message once. Of two versions the further one counts: what the stream says may be
 * overtaken by an answer that was asked for earlier. A recording that has become available counts too.
 */
export function mergeMessages(known: readonly Message[], more: readonly Message[]): Message[] {
  const byId = new Map<string, Message>();
  for (const message of [...known, ...more]) {
    const before = byId.get(message.id);
    const isFurther = !before || order[message.device_delivery_status] >= order[before.device_delivery_status];
    if (isFurther) byId.set(message.id, message);
  }
  return [...byId.values()].toSorted((a, b) => Date.parse(a.ts) - Date.parse(b.ts) || (a.id < b.id ? -1 : 1));
}
