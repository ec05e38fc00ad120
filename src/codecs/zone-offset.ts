/** Minutes east of UTC in an IANA zone at an instant. Throws RangeError for a name the runtime does not know. */
export function zoneOffsetMinutes(timeZone: string, atMs: number): number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(atMs).find((part) => part.type === "timeZoneName")?.value ?? "";
  const match = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name);
  if (!match) throw new RangeError(`No offset for ${timeZone}`);
  const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
  return match[1] === "-" ? -minutes : minutes;
}
