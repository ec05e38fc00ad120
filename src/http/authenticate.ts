import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { invalidToken, notAuthenticated } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { findPerson } from "../oauth/person-store.ts";
import { verifySession } from "../oauth/session-tokens.ts";
import type { TokenCache } from "../oauth/token-cache.ts";
import { partnerTokenPrefix } from "../oauth/token-store.ts";
import { type PersonPrincipal, type Principal, partnerPrincipal, personPrincipal } from "./principal.ts";

const longestToken = 2048;
const rememberedStart = `Bearer ${partnerTokenPrefix}`;

export interface AuthenticatorOptions {
  db: Database;
  tokens: TokenCache;
  sessionKey: Buffer;
  clock: Clock;
}

/** Turns an Authorization header into a principal, or throws 401. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** The partner behind a token that was seen a moment ago: no promise, no database. */
  remembered(header: string | undefined): Principal | undefined {
    if (header === undefined || !header.startsWith(rememberedStart)) return undefined;
    const partner = this.#options.tokens.remembered(header.slice("Bearer ".length));
    return partner && partnerPrincipal(partner);
  }

  async authenticate(header: string | undefined): Promise<Principal> {
    const token = bearerToken(header);
    if (!token.startsWith(partnerTokenPrefix)) return this.#person(token);
    const partner = await this.#options.tokens.find(token);
    if (!partner) throw invalidToken();
    return partnerPrincipal(partner);
  }

  /** For endpoints of the console: a partner token is no session. */
  async authenticatePerson(header: string | undefined): Promise<PersonPrincipal> {
    return this.#person(bearerToken(header));
  }

  async #person(token: string): Promise<PersonPrincipal> {
    const claims = verifySession(this.#options.sessionKey, token, this.#options.clock.nowMs());
    if (!claims || !isUuid(claims.sub) || !isUuid(claims.org)) throw invalidToken();
    const person = await findPerson(this.#options.db.point, claims.org, claims.sub);
    if (!person || person.joinedAt.getTime() !== claims.joined) throw invalidToken();
    return personPrincipal(person);
  }
}

function bearerToken(header: string | undefined): string {
  if (header === undefined) throw notAuthenticated();
  const match = /^bearer +(\S+) *$/i.exec(header);
  if (!match && !/^bearer\b/i.test(header)) throw notAuthenticated();
  if (!match || header.length > longestToken) throw invalidToken();
  return match[1] as string;
}
