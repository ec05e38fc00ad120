/** The enumerations of thresholds. The numbers are stored and give the order; the labels are what the API shows. */
export const thresholdScopes = { Organization: 10, Device: 15, User: 20 } as const;
export const thresholdSeverities = { Info: 10, Warning: 20, Critical: 30 } as const;
export const overrideModes = { Replace: 10, Merge: 20, Disable: 30 } as const;

export type ThresholdScope = (typeof thresholdScopes)[keyof typeof thresholdScopes];
export type ThresholdSeverity = (typeof thresholdSeverities)[keyof typeof thresholdSeverities];
export type OverrideMode = (typeof overrideModes)[keyof typeof overrideModes];

type Labels = Readonly<Record<string, number>>;

/** The number of a number or of a label in any case. */
export function parseLabel<L extends Labels>(labels: L, value: number | string): L[keyof L] | undefined {
  const wanted = typeof value === "string" ? value.toLowerCase() : value;
  const found = Object.entries(labels).find(([label, number]) => number === wanted || label.toLowerCase() === wanted);
  return found?.[1] as L[keyof L] | undefined;
}

export function labelOf<L extends Labels>(labels: L, number: number): keyof L & string {
  const label = Object.keys(labels).find((name) => labels[name] === number);
  if (label === undefined) throw new Error(`no label for ${number}`);
  return label;
}
