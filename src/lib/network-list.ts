import ipaddr from "ipaddr.js";

/** A list of networks in CIDR form, parsed once. An IPv4 address that came over IPv6 counts as IPv4. */
export class NetworkList {
  readonly #networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

  constructor(cidrs: readonly string[]) {
    this.#networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0;
  }

  includes(address: string): boolean {
    const plain = address.replace(/%.*$/, "");
    if (!ipaddr.isValid(plain)) return false;
    const parsed = ipaddr.process(plain);
    return this.#networks.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits));
  }
}

/** One address counts as a network of its own. Undefined: it is neither. */
export function parseNetwork(text: string): string | undefined {
  const network = text.includes("/") || !ipaddr.isValid(text) ? text : `${text}/${text.includes(":") ? 128 : 32}`;
  return ipaddr.isValidCIDR(network) ? network : undefined;
}
