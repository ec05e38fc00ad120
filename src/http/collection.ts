import type { Static, TSchema } from "@sinclair/typebox";
import type { ListPage } from "./list-results.ts";
import type { ListSpec } from "./lists.ts";
import type { QueryParams } from "./query-params.ts";
import {
  type Answer,
  created,
  type LoadContext,
  noContent,
  ok,
  type PathParam,
  type Route,
  type RouteContext,
  route,
} from "./route.ts";
import { cursorPageOf, pageOf, refTo } from "./schemas.ts";

type NoQuery = Readonly<Record<never, never>>;
export type ObjectContext = LoadContext<NoQuery, NoQuery>;
export type CallOf<Body, Found> = RouteContext<Body, NoQuery, NoQuery, Found>;
type Gate = Pick<Route, "partners" | "people">;

/** What the routes of a noun have in common. */
export interface CollectionSpec<Parent, Found> {
  /** With the trailing slash; `:name` for what the collection belongs to. */
  path: string;
  /** How the ids of the operations begin. */
  operations: string;
  tag: string;
  feature?: NonNullable<Route["feature"]>;
  /** Who may call GET. */
  reads: Gate;
  /** Who may call the rest; nobody needs to be named where there is no more. */
  writes?: Gate;
  /** The form of each parameter in the paths of the collection. */
  params: NonNullable<Route["params"]>;
  /** The parameter that names one object, and the field of the record that has its value. Without it there is only the whole. */
  key?: string;
  /** Finds what the collection belongs to, for paths without the key. */
  loadParent?(context: ObjectContext): Promise<Parent>;
  /** Finds the object, for paths with the key. */
  load?(context: ObjectContext): Promise<Found>;
}

/** What an operation says of itself. Gate and `load` replace those of the collection. */
type About<Found> = Partial<Gate> &
  Pick<Route, "summary" | "description" | "errors" | "precheck" | "dependsOn"> & {
    load?(context: ObjectContext): Promise<Found>;
  };

type Listing<Item extends TSchema, F extends QueryParams, Row, Parent> = About<Parent> & {
  item: Item;
  list: ListSpec<F>;
  rows(context: RouteContext<unknown, NoQuery, F, Parent>): Promise<ListPage<Row>>;
  toItem(row: Row, context: RouteContext<unknown, NoQuery, F, Parent>): Static<Item>;
};

type RetrieveSpec<Item extends TSchema, Found> = About<Found> & {
  item: Item;
  handle(context: CallOf<unknown, Found>): Promise<Static<Item>>;
};

type Writing<Body extends TSchema, Item extends TSchema, Found> = About<Found> & {
  body: Body;
  item: Item;
  handle(context: CallOf<Static<Body>, Found>): Promise<Static<Item>>;
};

type Free<Body extends TSchema, Q extends QueryParams, Found> = About<Found> &
  Pick<Route, "isIdempotent" | "file" | "produces" | "responses" | "otherForms"> & {
    query?: Q;
    body?: Body;
    handle(context: RouteContext<Static<Body>, Q, NoQuery, Found>): Promise<Answer>;
  };

/** The usual operations under their usual names and addresses; the compiler holds what they answer to the schema of the item. */
export interface Collection<Parent, Found> {
  list<Item extends TSchema, F extends QueryParams, Row, P = Parent>(operation: Listing<Item, F, Row, P>): Route;
  /** 201 with the address of the new object; takes an Idempotency-Key. */
  create<Body extends TSchema, Item extends TSchema, P = Parent>(operation: Writing<Body, Item, P>): Route;
  retrieve<Item extends TSchema, S = Found>(operation: RetrieveSpec<Item, S>): Route;
  update<Body extends TSchema, Item extends TSchema, S = Found>(operation: Writing<Body, Item, S>): Route;
  partialUpdate<Body extends TSchema, Item extends TSchema, S = Found>(operation: Writing<Body, Item, S>): Route;
  destroy<S = Found>(operation: About<S> & { handle(context: CallOf<unknown, S>): Promise<void> }): Route;
  /** Any other operation, at a path under that of the collection. */
  get<Q extends QueryParams = NoQuery, S = Found>(path: string, operation: Free<TSchema, Q, S>): Route;
  post<Body extends TSchema = TSchema, S = Found>(path: string, operation: Free<Body, NoQuery, S>): Route;
  delete<S = Found>(path: string, operation: Free<TSchema, NoQuery, S>): Route;
}

const verbs = { GET: "retrieve", POST: "create", PUT: "update", PATCH: "partial_update", DELETE: "destroy" } as const;

export function collection<Parent = undefined, Found = Parent>(
  noun: CollectionSpec<Parent, Found>,
): Collection<Parent, Found> {
  const { key = "id" } = noun;
  const one = `:${key}/`;

  function at(method: Route["method"], under: string, operation: object, verb: string = verbs[method]): Route {
    const path = noun.path + under;
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
    const load = names.includes(key) ? noun.load : noun.loadParent;
    const words = under.split("/").filter((word) => word !== "" && !word.startsWith(":"));
    return route({
      method,
      path,
      operationId: [noun.operations, ...words.map((word) => word.replaceAll("-", "_")), verb].join("_"),
      tag: noun.tag,
      ...(noun.feature === undefined ? {} : { feature: noun.feature }),
      ...(method === "GET" ? noun.reads : gateOfWrites()),
      ...(names.length > 0 ? { params: Object.fromEntries(names.map((name) => [name, formOf(name)])) } : {}),
      ...(load ? { load } : {}),
      ...operation,
    } as Route);
  }

  function gateOfWrites(): Gate {
    if (!noun.writes) throw new Error(`${noun.operations} does not say who may write`);
    return noun.writes;
  }

  function formOf(name: string): PathParam {
    const form = noun.params[name];
    if (form === undefined) throw new Error(`${noun.operations} has no form for the parameter ${name}`);
    return form;
  }

  const write = <B extends TSchema, I extends TSchema, S>(
    method: "PUT" | "PATCH",
    { item, handle, body, ...operation }: Writing<B, I, S>,
  ): Route =>
    at(method, one, {
      ...operation,
      body: refTo(body),
      responses: { 200: refTo(item) },
      handle: async (context: CallOf<Static<B>, S>) => ok(await handle(context)),
    });

  return {
    list: ({ item, rows, toItem, ...operation }) =>
      at(
        "GET",
        "",
        {
          ...operation,
          responses: { 200: refTo(operation.list.kind === "page" ? pageOf(item) : cursorPageOf(item)) },
          handle: async (context: Parameters<typeof rows>[0]) =>
            context.page(await rows(context), (row) => toItem(row, context)),
        },
        "list",
      ),
    create: ({ item, handle, body, ...operation }) =>
      at("POST", "", {
        ...operation,
        isIdempotent: true,
        body: refTo(body),
        responses: { 201: refTo(item) },
        handle: async (context: Parameters<typeof handle>[0]) => {
          const record = await handle(context);
          return created(record, { Location: context.link(addressOf(context.params, record)) });
        },
      }),
    retrieve: ({ item, handle, ...operation }) =>
      at("GET", one, {
        ...operation,
        responses: { 200: refTo(item) },
        handle: async (context: Parameters<typeof handle>[0]) => ok(await handle(context)),
      }),
    update: (operation) => write("PUT", operation),
    partialUpdate: (operation) => write("PATCH", operation),
    destroy: ({ handle, ...operation }) =>
      at("DELETE", one, {
        ...operation,
        responses: { 204: null },
        handle: async (context: Parameters<typeof handle>[0]) => {
          await handle(context);
          return noContent();
        },
      }),
    get: (path, operation) => at("GET", path, operation),
    post: (path, operation) => at("POST", path, withBodyRef(operation)),
    delete: (path, operation) => at("DELETE", path, operation),
  };

  function addressOf(params: Readonly<Record<string, string>>, record: unknown): string {
    const path = noun.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? "");
    return `${path}${String((record as Record<string, unknown>)[key])}/`;
  }
}

const withBodyRef = <T extends { body?: TSchema }>({ body, ...operation }: T): object =>
  body ? { ...operation, body: refTo(body) } : operation;
