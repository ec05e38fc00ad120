/** Events by their numbers, severities and words (section 7). */

export const severities = { info: 10, warning: 20, critical: 30 } as const;
export type Severity = keyof typeof severities;

export interface EventType {
  number: number;
  /** Null: that of the threshold which was broken. */
  severity: Severity | null;
  /** Null: events of this type are not sent to partners. */
  outboundType: string | null;
  /** What a packet's alarm is called; events made by rules say more. */
  title: string;
}

export const eventTypes = {
  sos: { number: 10, severity: "critical", outboundType: "alarm.sos", title: "SOS pressed" },
  fall: { number: 20, severity: "critical", outboundType: "alarm.fall", title: "Fall detected" },
  low_battery: { number: 30, severity: "warning", outboundType: "alarm.low_battery", title: "Low battery" },
  power_off: { number: 40, severity: "info", outboundType: null, title: "Powered off" },
  power_on: { number: 50, severity: "info", outboundType: null, title: "Powered on" },
  device_online: { number: 60, severity: "info", outboundType: "device.online", title: "Online" },
  device_offline: { number: 70, severity: "info", outboundType: "device.offline", title: "Offline" },
  geofence_enter: { number: 80, severity: "info", outboundType: "geofence.enter", title: "Entered a geofence" },
  geofence_exit: { number: 90, severity: "warning", outboundType: "geofence.exit", title: "Left a geofence" },
  geofence_dwell: { number: 100, severity: "info", outboundType: "geofence.dwell", title: "Stayed in a geofence" },
  not_worn: { number: 110, severity: "warning", outboundType: null, title: "Not worn" },
  threshold_breach: { number: 120, severity: null, outboundType: "alarm.threshold", title: "Value out of range" },
  threshold_cleared: {
    number: 130,
    severity: "info",
    outboundType: "alarm.threshold_cleared",
    title: "Value back in range",
  },
  ecg_recorded: { number: 140, severity: "info", outboundType: "ecg.recorded", title: "ECG recorded" },
  ecg_abnormal: { number: 150, severity: "warning", outboundType: null, title: "Abnormal ECG" },
  inactivity: { number: 160, severity: "warning", outboundType: null, title: "No movement" },
  overspeed: { number: 170, severity: "warning", outboundType: null, title: "Too fast" },
  tamper: { number: 180, severity: "warning", outboundType: null, title: "Device tampered with" },
  charging_started: { number: 190, severity: "info", outboundType: null, title: "Charging started" },
  charging_stopped: { number: 200, severity: "info", outboundType: null, title: "Charging stopped" },
  sim_changed: { number: 210, severity: "warning", outboundType: null, title: "SIM changed" },
  custom: { number: 220, severity: "info", outboundType: null, title: "Device alarm" },
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof eventTypes;
