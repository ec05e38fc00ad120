import { createHash } from "node:crypto";
import type { Database, Db, Tx } from "../db/database.ts";
import { ApiError, idempotencyInProgress, idempotencyKeyReuse, validationError } from "../lib/errors.ts";
import { errorBody } from "./error-body.ts";

/**
 * Idempotency-Key: the answer is stored in the transaction of the rows it speaks of, so either both survive a crash or
 * neither does. A call that finds the key's lock taken knows that the first call is still running.
 */
export interface KeyScope {
  principalId: string;
  method: string;
  /** Without its trailing slash. */
  path: string;
  key: string;
  /** Of the token: an answer may hold what another token of the same integration must not see. */
  scopes: readonly string[];
}

export interface StoredAnswer {
  status: number;
  body: string;
  contentType: string;
  location: string | null;
  isReplay: boolean;
}

const keptMs = 24 * 3600 * 1000;

/** The bare key of the header, or undefined without one. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = (Array.isArray(header) ? header.join(", ") : header).trim();
  const bare = /^".*"$/.test(text) && text.length >= 2 ? text.slice(1, -1) : text;
  if (!/^[\x20-\x7e]{1,255}$/.test(bare)) {
    throw validationError({ "Idempotency-Key": ["Must be 1 to 255 printable ASCII characters."] });
  }
  return bare;
}

/** Equal for bodies that are equal as parsed values, whatever the order of their keys and the white space. */
export function hashOfValue(value: unknown): Buffer {
  return createHash("sha256").update(canonical(value)).digest();
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

const notStoredStatuses = new Set([401, 403, 413, 415, 429]);

function isStored(error: ApiError): boolean {
  return error.status < 500 && !notStoredStatuses.has(error.status) && error.code !== "parse_error";
}

interface KeyRow {
  body_hash: Buffer;
  status: number;
  body: string;
  content_type: string;
  location: string | null;
  scopes: string[];
}

/** Runs `work` once for a key. `work` answers with its serialized body; refusals that it throws are answers too. */
export function answerOnce(
  db: Pick<Database, "transaction">,
  scope: KeyScope,
  bodyHash: Buffer,
  now: Date,
  requestId: string,
  work: (tx: Tx) => Promise<Omit<StoredAnswer, "isReplay">>,
): Promise<StoredAnswer> {
  return db.transaction(async (tx) => {
    const lockName = [scope.principalId, scope.method, scope.path, scope.key].join("\n");
    const { locked } = await tx.one<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${lockName}, 7130003)) as locked`;
    if (!locked) throw idempotencyInProgress();
    const known = await findKey(tx, scope, new Date(now.getTime() - keptMs));
    if (known) {
      const isForCaller = known.scopes.every((one) => scope.scopes.includes(one));
      if (!known.body_hash.equals(bodyHash) || !isForCaller) throw idempotencyKeyReuse();
      return {
        status: known.status,
        body: known.body,
        contentType: known.content_type,
        location: known.location,
        isReplay: true,
      };
    }
    const answer = await tx
      .savepoint(() => work(tx))
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || !isStored(error)) throw error;
        return {
          status: error.status,
          body: JSON.stringify(errorBody(error, requestId)),
          contentType: "application/json; charset=utf-8",
          location: null,
        };
      });
    await tx.run`
      insert into idempotency_keys (principal_id, method, path, key, body_hash, status, body, content_type, location, scopes, created_at)
      values (${scope.principalId}, ${scope.method}, ${scope.path}, ${scope.key}, ${bodyHash}, ${answer.status}, ${answer.body},
        ${answer.contentType}, ${answer.location}, ${scope.scopes}, ${now})
      on conflict (principal_id, method, path, key) do update set
        body_hash = excluded.body_hash, status = excluded.status, body = excluded.body,
        content_type = excluded.content_type, location = excluded.location, scopes = excluded.scopes,
        created_at = excluded.created_at`;
    return { ...answer, isReplay: false };
  });
}

const findKey = (tx: Db, scope: KeyScope, since: Date): Promise<KeyRow | undefined> =>
  tx.maybeOne<KeyRow>`
    select body_hash, status, body, content_type, location, scopes from idempotency_keys
    where principal_id = ${scope.principalId} and method = ${scope.method} and path = ${scope.path} and key = ${scope.key}
      and created_at > ${since}`;

export const deleteOldIdempotencyKeys = (db: Db, now: Date): Promise<number> =>
  db.run`delete from idempotency_keys where created_at <= ${new Date(now.getTime() - keptMs)}`;
