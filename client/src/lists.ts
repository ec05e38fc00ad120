import type { Operations } from "./operations.ts";
import type { CallInput, CallOptions, OperationId, Transport } from "./transport.ts";

/** Operations whose answer is a page with a link to the next one. */
export type ListId = {
  [Id in OperationId]: Operations[Id]["answer"] extends { results: unknown[]; next: string | null } ? Id : never;
}[OperationId];

export type PageOf<Id extends ListId> = Operations[Id]["answer"];
export type RowOf<Id extends ListId> = PageOf<Id>["results"][number];
export type QueryOf<Id extends OperationId> = Operations[Id]["query"];

/** All rows of a list. Pages are fetched as the rows are used; a failed page is retried, so rows are neither lost nor doubled. */
export interface List<Row, Page> extends AsyncIterable<Row> {
  pages(): AsyncIterable<Page>;
  /** The page that the query names. */
  page(): Promise<Page>;
  toArray(): Promise<Row[]>;
}

export function listOf<Id extends ListId>(
  { call }: Transport,
  id: Id,
  input: Pick<CallInput<Id>, "path" | "query">,
  options: CallOptions = {},
): List<RowOf<Id>, PageOf<Id>> {
  const page = (query: unknown): Promise<PageOf<Id>> =>
    call(id, { path: input.path, query: query as CallInput<Id>["query"] }, options);

  async function* pages(): AsyncGenerator<PageOf<Id>> {
    let query: Record<string, unknown> | undefined = { ...input.query };
    while (query) {
      const found: PageOf<Id> = await page(query);
      yield found;
      // Only the query of the link: behind a proxy the service may know itself by another address.
      query = found.next === null ? undefined : Object.fromEntries(new URL(found.next).searchParams);
    }
  }

  async function* rows(): AsyncGenerator<RowOf<Id>> {
    for await (const { results } of pages()) yield* results as RowOf<Id>[];
  }

  return {
    pages,
    page: () => page(input.query),
    toArray: async () => {
      const found: RowOf<Id>[] = [];
      for await (const row of rows()) found.push(row);
      return found;
    },
    [Symbol.asyncIterator]: rows,
  };
}
