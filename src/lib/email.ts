const shape = /^[^\s@<>(),;:"\\[\]]+@[^\s@<>(),;:"\\[\]]+$/;
const longestAddress = 254;

/** The address in the form that is stored and compared (lower case), or undefined for what is none. */
export function normalizeEmail(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const domain = address.split("@")[1] ?? "";
  const isDomain = domain.split(".").every((label) => label !== "" && !label.startsWith("-") && !label.endsWith("-"));
  return shape.test(address) && isDomain && address.length <= longestAddress ? address : undefined;
}
