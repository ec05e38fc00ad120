const lowPercent = 15;
const rearmedAbovePercent = 20;

/** What one packet says of the battery. */
export interface BatteryReport {
  /** In range; null: the packet has none. */
  percent: number | null;
  /** The device itself raises `low_battery`. */
  hasAlarm: boolean;
  isLate: boolean;
}

/**
 * `low_battery` is raised once, by the device's own alarm or by a level of 15 or less, until a later packet has more than 20
 * (section 7). A late packet says nothing of the level now; the device's own alarm counts however late it is.
 */
export function evaluateBattery(
  isRaised: boolean,
  { percent, hasAlarm, isLate }: BatteryReport,
): { isRaised: boolean; isEvent: boolean } {
  const level = isLate ? null : percent;
  const wasRaised = isRaised && !(level !== null && level > rearmedAbovePercent);
  const isLow = hasAlarm || (level !== null && level <= lowPercent);
  return { isRaised: wasRaised || isLow, isEvent: isLow && !wasRaised };
}
