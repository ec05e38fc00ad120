import ipaddr from "ipaddr.js";

/**
 * Where webhooks may go (decisions 19.1): https to public unicast addresses, and to the networks that the operator allows.
 * A URL is checked when it is saved, and its addresses again at every connection, because names change what they point to.
 */
export type TargetVerdict = { ok: true; url: string } | { ok: false; reason: string };

/** Addresses of a name; an empty list when it does not resolve. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const maxUrlLength = 2048;

/** Outside this block IPv6 has nothing public: discard, translation, site-local, IPv4-compatible and unassigned space. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** Not known to the library's table of special ranges: the documentation network of RFC 9637. */
const documentation = ipaddr.IPv6.parseCIDR("3fff::/20");

export function isAllowedAddress(address: string, allowCidrs: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  const isInside = (cidr: string): boolean => {
    const network = ipaddr.parseCIDR(cidr);
    return ip.kind() === network[0].kind() && ip.match(network);
  };
  return isPublic(ip) || allowCidrs.some(isInside);
}

function isPublic(ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (ip.range() !== "unicast") return false;
  return ip instanceof ipaddr.IPv4 || (ip.match(globalUnicast) && !ip.match(documentation));
}

/** The host as an address, if it is one. URL has already turned 2130706433, 0x7f.1 and the like into dotted form. */
function literalAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(host) ? host : undefined;
}

/**
 * Addresses of a name. That of this machine is known without asking (RFC 6761), and a dot at the end, which some resolvers do not
 * understand, hides nothing.
 */
async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const name = hostname.replace(/\.$/, "");
  const found = await Promise.all([...new Set([hostname, name])].map(resolve));
  return [...found.flat(), ...(/(^|\.)localhost$/.test(name) ? ["127.0.0.1"] : [])];
}

function parseTarget(text: string): URL | string {
  if (text.length > maxUrlLength) return `it is longer than ${maxUrlLength} characters`;
  // The parser would silently drop tabs and line ends.
  if (/\s/.test(text)) return "it must not contain spaces";
  if (!URL.canParse(text)) return "it is not a URL";
  const url = new URL(text);
  // The parser takes any number of slashes, of either kind, and drops the empty name of "https://@host".
  if (!/^https:\/\/[^/\\]/i.test(text)) return "it must begin with https://";
  if (/^https:\/\/[^/?#\\]*@/i.test(text)) return "it must not carry a user name or password";
  if (text.includes("#")) return "it must not have a fragment (#)";
  return url;
}

/** The URL to store, spelled as it was given, or why it is refused. A name that does not resolve yet may be saved. */
export async function checkWebhookTarget(
  text: string,
  allowCidrs: readonly string[],
  resolve: Resolve,
): Promise<TargetVerdict> {
  const given = text.trim();
  const url = parseTarget(given);
  if (typeof url === "string") return { ok: false, reason: url };
  const literal = literalAddress(url);
  const addresses = literal === undefined ? await addressesOf(url.hostname, resolve) : [literal];
  const refused = addresses.find((address) => !isAllowedAddress(address, allowCidrs));
  if (refused === undefined) return { ok: true, url: given };
  const subject = literal === undefined ? `${url.hostname} points to ${refused}, which` : refused;
  return { ok: false, reason: `${subject} is not a public address (VIGIL_WEBHOOK_ALLOW_CIDRS can allow its network)` };
}
