import type { FastifyRequest } from "fastify";
import type { Db, Tx } from "../db/database.ts";
import type { Clock } from "../lib/clock.ts";
import { notFound } from "../lib/errors.ts";
import { isImei, isUuid } from "../lib/ids.ts";
import type { Actor, Origin } from "../oauth/actor.ts";
import type { CallDatabase } from "./fair-database.ts";
import type { ListPage } from "./list-results.ts";
import { type ListQuery, parseListQuery, parseParams } from "./lists.ts";
import type { UploadedFile } from "./multipart.ts";
import { actorOf, type Caller, type Principal } from "./principal.ts";
import type { ParsedQuery, QueryParams } from "./query-params.ts";
import type { Answer, PathParam, Route, RouteContext } from "./route.ts";

export interface CallOptions {
  /** With the share of the caller's organization. */
  db: CallDatabase;
  history: Db;
  spread: Db;
  clock: Clock;
  baseUrl: () => string;
}

/**
 * What the handler of a call sees. One object for all steps; what few handlers use is made when it is asked for. The functions
 * come from getters, because handlers take them apart from the object.
 */
export class CallContext implements RouteContext<unknown, QueryParams, QueryParams, unknown> {
  readonly request: FastifyRequest;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly now: Date;
  readonly db: Db;
  readonly history: Db;
  readonly spread: Db;
  body: unknown = undefined;
  file: UploadedFile | undefined = undefined;
  text = "";
  object: unknown = undefined;
  readonly #route: Route;
  readonly #options: CallOptions;
  readonly #tx: Tx | undefined;

  /** With a transaction the whole call is part of it. */
  constructor(route: Route, request: FastifyRequest, caller: Caller, options: CallOptions, tx: Tx | undefined) {
    this.request = request;
    this.caller = caller;
    this.params = route.params ? readParams(route.params, request.params as Record<string, string>) : {};
    this.now = options.clock.now();
    this.db = tx ?? options.db;
    this.history = tx ?? options.history;
    this.spread = tx ?? options.spread;
    this.#route = route;
    this.#options = options;
    this.#tx = tx;
  }

  get principal(): Principal {
    if (this.caller.kind === "operator")
      throw new Error(`${this.#route.operationId} asked for an operator's organization`);
    return this.caller;
  }

  get organizationId(): string {
    return this.principal.organization.id;
  }

  get requestId(): string {
    return this.request.id;
  }

  get actor(): Actor {
    return actorOf(this.principal, this.request.id, this.request.ip);
  }

  get origin(): Origin {
    return { correlationId: this.request.id, remoteAddr: this.request.ip };
  }

  get header(): (name: string) => string | undefined {
    return (name) => {
      const value = this.request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : value;
    };
  }

  get query(): () => ParsedQuery<QueryParams> {
    return () => parseParams(this.#route.query ?? {}, lastValues(this.request.query));
  }

  get list(): () => ListQuery {
    const { list, operationId } = this.#route;
    if (!list) throw new Error(`${operationId} is not a list`);
    return () => parseListQuery(list, lastValues(this.request.query));
  }

  get transaction(): <T>(work: (tx: Tx) => Promise<T>) => Promise<T> {
    const tx = this.#tx;
    return tx ? (work) => work(tx) : (work) => this.#options.db.transaction(work);
  }

  get link(): (path: string) => string {
    return (path) => this.#options.baseUrl() + path;
  }

  get page(): <Row, Item>(page: ListPage<Row>, toItem: (row: Row) => Item) => Answer {
    const address = this.#options.baseUrl() + pathOf(this.request.url);
    return (page, toItem) => pageAnswer(page, toItem, address, lastValues(this.request.query));
  }
}

/** The path of an address with a trailing slash; an address may come in absolute form (RFC 9112 3.2.2). */
export function pathOf(url: string): string {
  const target = url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const path = target.split(/[?#]/, 1)[0] as string;
  return path.endsWith("/") ? path : `${path}/`;
}

const wellFormed: Record<PathParam, (text: string) => boolean> = {
  uuid: isUuid,
  imei: isImei,
  integer: (text) => /^\d{1,15}$/.test(text),
  slug: (text) => /^[A-Za-z0-9_-]{1,100}$/.test(text),
};

function readParams(
  params: Readonly<Record<string, PathParam>>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const read: Record<string, string> = {};
  for (const [name, kind] of Object.entries(params)) {
    const text = given[name] ?? "";
    if (!wellFormed[kind](text)) throw notFound();
    read[name] = kind === "uuid" ? text.toLowerCase() : text;
  }
  return read;
}

/** Of a repeated parameter the last one counts. */
function lastValues(query: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    values[name] = (Array.isArray(value) ? value.at(-1) : value) ?? "";
  }
  return values;
}

function pageAnswer<Row, Item>(
  page: ListPage<Row>,
  toItem: (row: Row) => Item,
  address: string,
  query: Readonly<Record<string, string>>,
): Answer {
  const link = (changed: Record<string, string> | null): string | null =>
    changed && `${address}?${new URLSearchParams(Object.entries({ ...query, ...changed }))}`;
  const body = { next: link(page.next), previous: link(page.previous), results: page.rows.map(toItem) };
  return { status: 200, body: page.count === undefined ? body : { count: page.count, ...body } };
}
