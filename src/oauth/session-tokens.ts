import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Database, Db } from "../db/database.ts";
import type { SecretBox } from "../lib/secret-box.ts";

/** What a session of a person says of itself: who, and in which organization. The role is never in it. */
export interface SessionClaims {
  sub: string;
  /** Absent: a session of an operator, who belongs to none. */
  org?: string;
  /**
   * Since when the membership has been open, or the person an operator, in milliseconds: what was ended and begins again needs a
   * new session.
   */
  joined: number;
  /** When the password was last changed, in milliseconds, 0 for the first one: a change ends the session. */
  password?: number;
  iat: number;
  exp: number;
}

export const sessionTtlSeconds = 3600;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = encode({ alg: "HS256", typ: "JWT" });

const sign = (key: Buffer, input: string): Buffer => createHmac("sha256", key).update(input).digest();

export type SessionSubject = Pick<SessionClaims, "sub" | "org" | "joined" | "password">;

export function signSession(key: Buffer, subject: SessionSubject, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const claims: SessionClaims = { ...subject, iat, exp: iat + sessionTtlSeconds };
  const input = `${header}.${encode(claims)}`;
  return `${input}.${sign(key, input).toString("base64url")}`;
}

/** The claims of a session that this service signed and that has not expired. Only our own header is accepted. */
export function verifySession(key: Buffer, token: string, nowMs: number): SessionClaims | undefined {
  const [head, payload, signature, ...rest] = token.split(".");
  if (head !== header || !payload || !signature || rest.length > 0) return undefined;
  const expected = sign(key, `${head}.${payload}`);
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as SessionClaims;
  return claims.exp * 1000 > nowMs ? claims : undefined;
}

/** The key all processes of one database share; made by whichever comes first. */
export async function loadSessionKey(db: Database, box: SecretBox, now: Date): Promise<Buffer> {
  const read = (on: Db): Promise<{ value: string } | undefined> =>
    on.maybeOne<{ value: string }>`select value #>> '{}' as value from settings where key = 'session_key'`;
  const fresh = JSON.stringify(box.seal(randomBytes(32).toString("base64url")));
  await db.run`
    insert into settings (key, value, updated_at) values ('session_key', ${fresh}, ${now}) on conflict (key) do nothing`;
  const row = await read(db);
  if (!row) throw new Error("the session key could not be stored");
  return Buffer.from(box.open(row.value), "base64url");
}
