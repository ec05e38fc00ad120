import { AddressCounts } from "./address-counts.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { CloseReason } from "./gateway-metrics.ts";

/** One who speaks to the gateway over any transport that keeps something open. */
export interface Peer {
  /** As networkOf names it. */
  readonly network: string;
  /** Closed to make room for another one; it has not sent a login yet. */
  giveWay(): void;
}

/**
 * How many peers there may be, and how many of them without a login (section 30, Guessing). Where too many have not logged in,
 * the oldest that has sent no login gives way to the newcomer: silent connections cannot lock out those who have something to
 * say. A peer whose login waits for an answer keeps its place.
 */
export class PeerLimits {
  readonly #limits: GatewayLimits;
  readonly #addresses: AddressCounts;
  /** Without a login, the oldest first; in all and by network. */
  readonly #silent = new Set<Peer>();
  readonly #silentOf = new Map<string, Set<Peer>>();
  readonly #asking = new Set<Peer>();
  readonly #askingOf = new Map<string, Set<Peer>>();
  #open = 0;
  #tailBytes = 0;

  constructor(limits: GatewayLimits) {
    this.#limits = limits;
    this.#addresses = new AddressCounts(limits);
  }

  get unloggedCount(): number {
    return this.#silent.size + this.#asking.size;
  }

  /** Undefined: it is counted, and is to be released. Else why it cannot be taken. */
  admit(peer: Peer, nowMs: number): CloseReason | undefined {
    if (this.#open >= this.#limits.connections) return "connection_limit";
    if (!this.#addresses.admit(peer.network, nowMs)) return "address_limit";
    if (!this.#makeRoom(peer.network)) {
      this.#addresses.release(peer.network);
      return "unlogged_limit";
    }
    this.#open++;
    this.#silent.add(peer);
    addTo(this.#silentOf, peer);
    return undefined;
  }

  #makeRoom(network: string): boolean {
    const own = this.#silentOf.get(network);
    const isOwnFull = (own?.size ?? 0) + (this.#askingOf.get(network)?.size ?? 0) >= this.#limits.unloggedPerAddress;
    if (!isOwnFull && this.unloggedCount < this.#limits.unlogged) return true;
    const [oldest] = isOwnFull ? (own ?? []) : this.#silent;
    const loser = oldest ?? (isOwnFull ? undefined : this.#lastOfLongestQueue());
    // It is released when its connection is closed, and no longer counts until then.
    if (!loser) return false;
    this.#leaveSilent(loser);
    this.#leaveAsking(loser);
    loser.giveWay();
    return true;
  }

  /** A few networks with full queues of guesses must not keep out all others. */
  #lastOfLongestQueue(): Peer | undefined {
    let longest = new Set<Peer>();
    for (const queue of this.#askingOf.values()) if (queue.size > longest.size) longest = queue;
    return longest.size > 1 ? [...longest].at(-1) : undefined;
  }

  /** It has sent a login. False: what it sent after it, before it was answered, is too much for all of these together. */
  ask(peer: Peer, tailBytes: number): boolean {
    if (!this.#leaveSilent(peer)) return true;
    this.#asking.add(peer);
    addTo(this.#askingOf, peer);
    this.#tailBytes += tailBytes;
    return this.#tailBytes <= this.#limits.unlogged * this.#limits.unloggedBytes;
  }

  /** Its login has been answered, or will never be. The bytes are those it asked with; 0 when it has not. */
  answered(peer: Peer, tailBytes: number): void {
    this.#tailBytes -= tailBytes;
    this.#leaveAsking(peer);
  }

  release(peer: Peer, tailBytes: number): void {
    this.#leaveSilent(peer);
    this.answered(peer, tailBytes);
    this.#addresses.release(peer.network);
    this.#open--;
  }

  #leaveSilent(peer: Peer): boolean {
    if (!this.#silent.delete(peer)) return false;
    removeFrom(this.#silentOf, peer);
    return true;
  }

  #leaveAsking(peer: Peer): void {
    if (this.#asking.delete(peer)) removeFrom(this.#askingOf, peer);
  }
}

function addTo(peers: Map<string, Set<Peer>>, peer: Peer): void {
  const own = peers.get(peer.network);
  if (own) own.add(peer);
  else peers.set(peer.network, new Set([peer]));
}

function removeFrom(peers: Map<string, Set<Peer>>, peer: Peer): void {
  const own = peers.get(peer.network);
  own?.delete(peer);
  if (own?.size === 0) peers.delete(peer.network);
}
