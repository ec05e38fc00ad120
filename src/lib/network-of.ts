import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * What counts as one place on the network: an IPv4 address, or the /64 that one subscriber of IPv6 is given and chooses
 * addresses from at will.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.IPv6.parse(address.replace(/%.*$/, ""));
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(":")}::/64`;
}
