import type { Static, TSchema } from "@sinclair/typebox";
import type { Db, Tx } from "../db/database.ts";
import type { Actor, Origin } from "../oauth/actor.ts";
import type { MemberRole } from "../oauth/roles.ts";
import type { Scope } from "../oauth/scopes.ts";
import type { ListPage } from "./list-results.ts";
import type { ListQuery, ListSpec } from "./lists.ts";
import type { UploadedFile } from "./multipart.ts";
import type { Caller, Principal } from "./principal.ts";
import type { ParsedQuery, QueryParams } from "./query-params.ts";

/**
 * A route is data: who may call it, what goes in, what comes out, and one handler. The table of routes is the surface:
 * the gates, the validators, the serializers and the OpenAPI description are all made from it.
 */
export interface RouteSpec<B extends TSchema, Q extends QueryParams, F extends QueryParams, S> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With a trailing slash; parameters as `:name`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  params?: Readonly<Record<string, PathParam>>;
  /** Scopes a partner token needs (empty: none), or "never" for routes of people only, which are not described. */
  partners: readonly Scope[] | "never";
  /** The least role of a person, or "never". */
  people: MemberRole | "never";
  /** Operators of the service may call it too; its handler then asks the context for the caller, not for the principal. */
  operators?: true;
  /** An opt-in that the whole route depends on. */
  feature?: "managed_onboarding" | "messaging";
  /** The answer depends on nothing but the address, or but the identity of the partner: it is written once. Only for GET and 200. */
  dependsOn?: "address" | "partner";
  /** Takes an Idempotency-Key. */
  isIdempotent?: boolean;
  query?: Q;
  list?: ListSpec<F>;
  body?: B;
  /** The body is multipart/form-data with this file; `body` is the schema of its fields, the name of the file among them. */
  file?: { field: string; maxBytes: number };
  /** The body is text of this media type, as it came, and not JSON. */
  text?: { mediaType: string; maxBytes: number };
  /** Success answers are bytes of one of these media types, and not JSON. */
  produces?: readonly string[];
  /** Success answers by status; null has no body. */
  responses: Readonly<Record<number, TSchema | null>>;
  /** Further forms of a 200 answer, by media type. */
  otherForms?: Readonly<Record<string, TSchema>>;
  /** Documented refusals of this operation beside those that follow from the gates. */
  errors?: readonly number[];
  /** Finds the object the path names. Runs before the body is looked at: a foreign object is 404 whatever is sent. */
  load?(context: LoadContext<Q, F>): Promise<S>;
  /** Looks at the parsed body before its schema does, for refusals that must win over messages about other fields. */
  precheck?(body: Readonly<Record<string, unknown>>, context: LoadContext<Q, F>): Promise<void>;
  handle(context: RouteContext<Static<B>, Q, F, S>): Promise<Answer>;
}

/** What the text of a path parameter must look like; anything else is 404, as an object that does not exist. */
export type PathParam = "uuid" | "imei" | "integer" | "slug";

export interface LoadContext<Q extends QueryParams, F extends QueryParams> {
  caller: Caller;
  /** As the organization and the actor, it exists for callers of an organization alone: an operator has none. */
  principal: Principal;
  organizationId: string;
  actor: Actor;
  origin: Origin;
  params: Readonly<Record<string, string>>;
  query: () => ParsedQuery<Q>;
  list: () => ListQuery<F>;
  now: Date;
  requestId: string;
  /** A header of the request; undefined without it. */
  header(name: string): string | undefined;
  /** Reads; part of the request's transaction where it has one. */
  db: Db;
  /** For long reads of what has happened: perhaps a replica, which then has all that was committed before the call. */
  history: Db;
  /** For reads of the positions and readings of one device, which a distributed database spreads over its workers. */
  spread: Db;
  /** An absolute address under the configured base URL. */
  link(path: string): string;
}

export interface RouteContext<Body, Q extends QueryParams, F extends QueryParams, S> extends LoadContext<Q, F> {
  body: Body;
  /** Of a route with a file. */
  file: UploadedFile | undefined;
  /** Of a route that takes text. */
  text: string;
  /** What `load` found. */
  object: S;
  /** The one transaction of this request; an Idempotency-Key is stored in it. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The body of a list answer, with links to its neighbours. */
  page<Row, Item>(page: ListPage<Row>, toItem: (row: Row) => Item): Answer;
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown, headers: Record<string, string> = {}): Answer => ({
  status: 201,
  body,
  headers,
});
export const noContent = (): Answer => ({ status: 204, body: undefined });
/** JSON that is text already and goes out as it is. */
export const jsonText = (text: string): Answer => ({
  status: 200,
  body: text,
  headers: { "content-type": "application/json; charset=utf-8" },
});
export const answer = (status: number, body: unknown): Answer => ({ status, body });

/** A route with its types erased, as the table holds it. */
export type Route = RouteSpec<TSchema, QueryParams, QueryParams, unknown>;

export function route<
  B extends TSchema = TSchema,
  Q extends QueryParams = Record<never, never>,
  F extends QueryParams = Record<never, never>,
  S = undefined,
>(spec: RouteSpec<B, Q, F, S>): Route {
  return spec as unknown as Route;
}
