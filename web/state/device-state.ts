import type { Device } from "../api/types.ts";

export type DeviceState = "alarm" | "online" | "stale" | "offline";

/** A position that old may no longer be where the person is. */
const staleAfterMs = 2 * 3_600_000;

/** How a device is drawn: what asks for help first, then whether one can rely on what is shown. */
export function stateOf(device: Device, hasAlarm: boolean, nowMs: number): DeviceState {
  if (hasAlarm) return "alarm";
  if (!device.is_online) return "offline";
  const at = device.last_location?.ts;
  return at !== undefined && nowMs - Date.parse(at) > staleAfterMs ? "stale" : "online";
}
