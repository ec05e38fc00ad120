/** Minutes that a zone is ahead of UTC at a time; 0 for a name nobody knows. Formats are kept: making one costs 50 us. */
export class ZoneOffsets {
  readonly #formats = new Map<string, Intl.DateTimeFormat | undefined>();

  minutesAt(timeZone: string, timeMs: number): number {
    if (!this.#formats.has(timeZone)) this.#formats.set(timeZone, formatOf(timeZone));
    const parts = this.#formats.get(timeZone)?.formatToParts(timeMs);
    const name = parts?.find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
    if (sign === undefined) return 0;
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
}
