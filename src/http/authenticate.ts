import type { Database } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { invalidToken, notAuthenticated, throttled } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { networkOf } from "../lib/network-of.ts";
import { findBrowserSession, findOperatorSession } from "../oauth/browser-sessions.ts";
import { findOperator } from "../oauth/operator-store.ts";
import { findPerson } from "../oauth/person-store.ts";
import { type SessionClaims, verifySession } from "../oauth/session-tokens.ts";
import type { TokenCache } from "../oauth/token-cache.ts";
import { TokenMisses } from "../oauth/token-misses.ts";
import { partnerTokenPrefix } from "../oauth/token-store.ts";
import {
  type Caller,
  type OperatorPrincipal,
  operatorPrincipal,
  type PersonPrincipal,
  type Principal,
  partnerPrincipal,
  personPrincipal,
} from "./principal.ts";

type Human = PersonPrincipal | OperatorPrincipal;

const maxTokenLength = 2048;
const cacheablePrefix = `Bearer ${partnerTokenPrefix}`;

export interface AuthenticatorOptions {
  db: Database;
  tokens: TokenCache;
  sessionKey: Buffer;
  clock: Clock;
}

/** Where a caller says who it is. */
export interface CredentialHeaders {
  authorization?: string | undefined;
  cookie?: string | undefined;
}

/** Turns an Authorization header, or the cookie of a browser, into a principal, or throws 401. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #misses = new TokenMisses();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** The partner behind a token that was seen a moment ago: no promise, no database. */
  findCached(header: string | undefined): Principal | undefined {
    if (header === undefined || !header.startsWith(cacheablePrefix)) return undefined;
    const partner = this.#options.tokens.findCached(header.slice("Bearer ".length));
    return partner && partnerPrincipal(partner);
  }

  authenticate(headers: CredentialHeaders, address: string): Promise<Caller> {
    return this.#counted(address, async () => {
      const cookie = sessionCookie(headers);
      if (cookie !== undefined) return this.#browser(cookie);
      const token = bearerToken(headers.authorization);
      if (!token.startsWith(partnerTokenPrefix)) return this.#person(token);
      const partner = await this.#options.tokens.find(token);
      return partner && partnerPrincipal(partner);
    });
  }

  /** For endpoints of the console: a partner token is no session. */
  authenticatePerson(headers: CredentialHeaders, address: string): Promise<Human> {
    return this.#counted(address, async () => {
      const cookie = sessionCookie(headers);
      return cookie === undefined ? this.#person(bearerToken(headers.authorization)) : this.#browser(cookie);
    });
  }

  /** A network that guesses tokens is not looked up for a while. */
  async #counted<P extends Caller>(address: string, find: () => Promise<P | undefined>): Promise<P> {
    const network = networkOf(address);
    const wait = this.#misses.waitSeconds(network, performance.now());
    if (wait > 0) throw throttled(wait);
    const principal = await find();
    if (principal) return principal;
    this.#misses.add(network, performance.now());
    throw invalidToken();
  }

  async #person(token: string): Promise<Human | undefined> {
    const claims = verifySession(this.#options.sessionKey, token, this.#options.clock.nowMs());
    if (!claims || !isUuid(claims.sub)) return undefined;
    if (claims.org === undefined) return this.#operator(claims);
    if (!isUuid(claims.org)) return undefined;
    const person = await findPerson(this.#options.db.point, claims.org, claims.sub);
    if (!person || person.joinedAt.getTime() !== claims.joined) return undefined;
    if ((person.passwordChangedAt?.getTime() ?? 0) !== (claims.password ?? 0)) return undefined;
    return personPrincipal(person, { expiresAtMs: claims.exp * 1000 });
  }

  async #operator(claims: SessionClaims): Promise<OperatorPrincipal | undefined> {
    const operator = await findOperator(this.#options.db.point, claims.sub);
    if (operator?.since.getTime() !== claims.joined) return undefined;
    if ((operator.passwordChangedAt?.getTime() ?? 0) !== (claims.password ?? 0)) return undefined;
    return operatorPrincipal(operator);
  }

  async #browser(token: string): Promise<Human | undefined> {
    const { db, clock } = this.#options;
    const session = await findBrowserSession(db.point, token, clock.now());
    if (session) return personPrincipal(session.person, { browserSessionId: session.id });
    const own = await findOperatorSession(db.point, token, clock.now());
    return own && operatorPrincipal(own.operator, own.id);
  }
}

/** The token of a browser's session. A request with an Authorization header uses that alone. */
export function sessionCookie({ authorization, cookie }: CredentialHeaders): string | undefined {
  if (authorization !== undefined || cookie === undefined) return undefined;
  const match = /(?:^|;) *vigil_session=([A-Za-z0-9_-]{20,100})(?:;|$)/.exec(cookie);
  if (match) return match[1];
  if (/(?:^|;) *vigil_session=/.test(cookie)) throw invalidToken();
  return undefined;
}

function bearerToken(header: string | undefined): string {
  if (header === undefined) throw notAuthenticated();
  const match = /^bearer +(\S+) *$/i.exec(header);
  if (!match && !/^bearer\b/i.test(header)) throw notAuthenticated();
  if (!match || header.length > maxTokenLength) throw invalidToken();
  return match[1] as string;
}
