import type { FleetDevice } from "../api/types.ts";

export type DeviceState = "alarm" | "online" | "stale" | "offline";

/** A position that old may no longer be where the person is. */
const staleAfterMs = 2 * 3_600_000;

/** Times of the API have one form, so that an earlier one is a lesser text. */
export const staleBefore = (nowMs: number): string => new Date(nowMs - staleAfterMs).toISOString();

/** How a device is drawn: what asks for help first, then whether one can rely on what is shown. */
export function stateOf(
  device: Pick<FleetDevice, "is_online" | "last_location">,
  hasAlarm: boolean,
  nowMs: number,
  oldest = staleBefore(nowMs),
): DeviceState {
  if (hasAlarm) return "alarm";
  if (!device.is_online) return "offline";
  const at = device.last_location?.ts;
  return at !== undefined && at < oldest ? "stale" : "online";
}
