/** The ten readings that have a name in the API (section 6); everything else that devices measure is in `extra`. */
export const metricKeys = [
  "bat",
  "hr",
  "sbp",
  "dbp",
  "spo2",
  "temp",
  "glucose",
  "steps",
  "gsm_signal",
  "satellites",
] as const;

export type MetricKey = (typeof metricKeys)[number];
