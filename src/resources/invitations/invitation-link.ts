/** Where the link of an invitation may lead, and what it looks like. */

/** `host` or `host:port` in the form that addresses have: lower case, IDN encoded, without the usual port. */
function hostOf(entry: string): string | undefined {
  const address = `https://${entry.trim()}`;
  return URL.canParse(address) ? new URL(address).host : undefined;
}

/** Only HTTPS, only a host of the list; a port other than 443 must stand in the list itself. */
export function isAllowedLink(linkBase: string, allowedHosts: readonly string[]): boolean {
  if (!/^https:\/\//i.test(linkBase) || !URL.canParse(linkBase)) return false;
  const { host, username, password } = new URL(linkBase);
  return username === "" && password === "" && allowedHosts.some((entry) => hostOf(entry) === host);
}

/** Adds the token as a query parameter; other parameters and the fragment stay as they were written. */
export function linkWithToken(linkBase: string, token: string): string {
  const url = new URL(linkBase);
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "" && part !== "token" && !part.startsWith("token="));
  url.search = [...kept, `token=${token}`].join("&");
  return url.href;
}
