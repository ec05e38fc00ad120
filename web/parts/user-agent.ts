const browsers: readonly (readonly [name: string, sign: RegExp])[] = [
  ["Edge", /Edg(?:e|A|iOS)?\//],
  ["Opera", /OPR\//],
  ["Samsung Internet", /SamsungBrowser\//],
  ["Firefox", /(?:Firefox|FxiOS)\//],
  ["Chrome", /(?:Chrome|Chromium|CriOS)\//],
  ["Safari", /Safari\//],
];
const systems: readonly (readonly [name: string, sign: RegExp])[] = [
  ["Android", /Android/],
  ["iPhone", /iPhone/],
  ["iPad", /iPad/],
  ["Windows", /Windows/],
  ["macOS", /Mac OS X|Macintosh/],
  ["ChromeOS", /CrOS/],
  ["Linux", /Linux/],
];

/** "Firefox, Windows": enough to recognize an own session; what is not known stays as it was sent. */
export function describeAgent(userAgent: string): string {
  const nameOf = (known: typeof browsers): string | undefined => known.find(([, sign]) => sign.test(userAgent))?.[0];
  const parts = [nameOf(browsers), nameOf(systems)].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(", ") : userAgent.slice(0, 60) || "–";
}
