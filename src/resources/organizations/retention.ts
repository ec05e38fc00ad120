/** Kinds of history that an organization may keep for a time; without one they are kept for ever. */
export const retainedTables = ["locations", "telemetry", "events", "messages"] as const;
export type RetainedTable = (typeof retainedTables)[number];
/** Days by kind. */
export type Retention = Readonly<Partial<Record<RetainedTable, number>>>;

export const maxRetentionDays = 36_500;

/** `locations=365d,events=keep` over what there was. A text: what is wrong with it. */
export function parseRetention(text: string, before: Retention): Retention | string {
  const after: Partial<Record<RetainedTable, number>> = { ...before };
  for (const pair of text.split(",").flatMap((one) => one.trim() || [])) {
    const [, name, value] = /^([a-z]+)=(keep|\d+d)$/.exec(pair) ?? [];
    const table = retainedTables.find((one) => one === name);
    if (table === undefined || value === undefined) {
      return `"${pair}" must be like locations=365d or events=keep, for ${retainedTables.join(", ")}`;
    }
    const days = Number.parseInt(value, 10);
    if (value === "keep") delete after[table];
    else if (days >= 1 && days <= maxRetentionDays) after[table] = days;
    else return `"${pair}" must name 1 to ${maxRetentionDays} days`;
  }
  return after;
}
