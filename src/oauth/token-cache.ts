import type { Database } from "../db/database.ts";
import type { Listener } from "../db/listener.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "./client-secrets.ts";
import { identityChannel } from "./identity-changes.ts";
import { findTokenIdentity, type PartnerIdentity } from "./token-store.ts";

interface Entry {
  identity: PartnerIdentity;
  readAtMs: number;
}

const maxEntries = 20_000;
const maxRecent = 1000;
/** Bounds the harm of a notification that was lost in a way nobody noticed. */
const maxAgeMs = 5000;

/**
 * Remembers identities of tokens so that a warm call needs no database. Disabling an integration, withdrawing a scope or
 * revoking a token is announced in the transaction that does it; while announcements cannot be received nothing is cached.
 */
export class TokenCache {
  readonly #db: Database;
  readonly #listener: Listener;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  /** By the token itself, for as long as nothing changes: a tenth of a warm call was the hash. */
  readonly #recent = new Map<string, Entry>();
  /** Rises with every announcement: an answer that was read before one must not be cached after it. */
  #generation = 0;

  constructor(db: Database, listener: Listener, clock: Clock) {
    this.#db = db;
    this.#listener = listener;
    this.#clock = clock;
    listener.on(identityChannel, (payload) => this.#forget(payload));
    listener.onReset(() => this.#forget("all"));
  }

  /** The identity behind a token, or undefined if it is unknown, expired, revoked or its integration is not active. */
  async find(token: string): Promise<PartnerIdentity | undefined> {
    const tokenHash = hashSecret(token);
    const identity = await this.#read(tokenHash, tokenHash.toString("hex"));
    return identity && this.#isLive(identity) ? identity : undefined;
  }

  /** The same from memory; undefined also when the database must be asked. */
  findCached(token: string): PartnerIdentity | undefined {
    const entry = this.#recent.get(token) ?? this.#entries.get(hashSecret(token).toString("hex"));
    if (!entry || !this.#listener.isConnected || Date.now() - entry.readAtMs >= maxAgeMs) {
      this.#recent.delete(token);
      return undefined;
    }
    if (this.#recent.size >= maxRecent) this.#recent.clear();
    this.#recent.set(token, entry);
    return this.#isLive(entry.identity) ? entry.identity : undefined;
  }

  #isLive(identity: PartnerIdentity): boolean {
    return identity.expiresAtMs > this.#clock.nowMs();
  }

  async #read(tokenHash: Buffer, key: string): Promise<PartnerIdentity | undefined> {
    const generation = this.#generation;
    const identity = await findTokenIdentity(this.#db.point, tokenHash);
    if (identity && generation === this.#generation && this.#listener.isConnected) {
      this.#entries.delete(key);
      if (this.#entries.size >= maxEntries) this.#entries.delete(this.#entries.keys().next().value as string);
      this.#entries.set(key, { identity, readAtMs: Date.now() });
    }
    return identity;
  }

  /** For a revocation by this process: its own announcement may come after the answer. */
  forget(token: string): void {
    this.#forget(`token:${hashSecret(token).toString("hex")}`);
  }

  #forget(payload: string): void {
    this.#generation++;
    this.#recent.clear();
    if (payload.startsWith("token:")) this.#entries.delete(payload.slice("token:".length));
    else this.#entries.clear();
  }
}
