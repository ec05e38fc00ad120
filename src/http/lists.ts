import { ApiError, invalidCursor, validationError } from "../lib/errors.ts";
import { type ParsedQuery, type QueryParams, QueryValueError } from "./query-params.ts";

/** What a list offers. One mechanism serves every resource: page lists with a count, cursor lists without. */
export interface ListSpec<F extends QueryParams = QueryParams> {
  kind: "page" | "cursor";
  /** The names of the ordering fields; on cursor lists the first is the time field that `order` means. */
  ordering: readonly string[];
  defaultOrdering: string;
  filters: F;
  /** What `search` looks at, in words for the description. */
  searches: string;
}

export interface OrderTerm {
  field: string;
  descending: boolean;
}

export interface ListQuery<F extends QueryParams = QueryParams> {
  page: number | "last";
  pageSize: number;
  ordering: OrderTerm[];
  cursor: Cursor | undefined;
  search: string | undefined;
  filters: ParsedQuery<F>;
}

/** A place in a cursor list: the sort value and the key of a row, and on which side of it the page lies. */
export interface Cursor {
  ordering: string;
  side: "after" | "before";
  value: string;
  id: string;
}

const sizes = { page: { defaultSize: 50, maxSize: 200 }, cursor: { defaultSize: 100, maxSize: 500 } } as const;

export const listSizes = sizes;

type RawQuery = Readonly<Record<string, string>>;

export function defineList<F extends QueryParams>(spec: ListSpec<F>): ListSpec<F> {
  return spec;
}

/** Collects one message per bad parameter, so that a caller sees all of them at once. */
export function parseParams<F extends QueryParams>(params: F, raw: RawQuery): ParsedQuery<F> {
  const errors: Record<string, string[]> = {};
  const parsed: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    const text = raw[name];
    if (text === undefined || (text === "" && !param.keepsEmpty)) continue;
    try {
      if (text.includes("\0") && !param.keepsNull) throw new QueryValueError("Null characters are not allowed.");
      parsed[name] = param.parse(text);
    } catch (error) {
      if (!(error instanceof QueryValueError)) throw error;
      errors[name] = [error.message];
    }
  }
  if (Object.keys(errors).length > 0) throw validationError(errors);
  return parsed as ParsedQuery<F>;
}

export function parseListQuery<F extends QueryParams>(spec: ListSpec<F>, raw: RawQuery): ListQuery<F> {
  const common: Record<string, string[]> = {};
  const attempt = <T>(name: string, parse: () => T, fallback: T): T => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof QueryValueError)) throw error;
      common[name] = [error.message];
      return fallback;
    }
  };
  const pageSize = attempt("page_size", () => parsePageSize(spec, raw.page_size), 1);
  const page = spec.kind === "page" ? attempt("page", () => parsePage(raw.page), 1 as const) : 1;
  const ordering = attempt("ordering", () => parseOrdering(spec, raw), []);
  if (spec.kind === "cursor" && !raw.ordering?.trim()) attempt("order", () => checkOrder(raw.order), undefined);
  const search = attempt("search", () => parseSearch(raw.search), undefined);
  let filters = {} as ParsedQuery<F>;
  try {
    filters = parseParams(spec.filters, raw);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    Object.assign(common, error.extra.errors);
  }
  if (Object.keys(common).length > 0) throw validationError(common);
  const cursor = spec.kind === "cursor" && raw.cursor ? decodeCursor(raw.cursor, ordering) : undefined;
  return { page, pageSize, ordering, cursor, search, filters };
}

function parsePageSize(spec: ListSpec, text: string | undefined): number {
  const { defaultSize, maxSize } = sizes[spec.kind];
  if (text === undefined) return defaultSize;
  if (!/^\+?\d+$/.test(text) || Number(text) === 0) throw new QueryValueError("A positive integer is required.");
  return Math.min(Number(text), maxSize);
}

function parsePage(text: string | undefined): number | "last" {
  if (text === undefined) return 1;
  if (text === "last") return "last";
  if (!/^\d+$/.test(text) || Number(text) === 0) throw new QueryValueError('A positive integer or "last" is required.');
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

function parseSearch(text: string | undefined): string | undefined {
  if (text?.includes("\0")) throw new QueryValueError("Null characters are not allowed.");
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}

const dayMs = 86_400_000;
const maxSearchDays = 31;
/** A window that was counted back from now is a little older when it arrives. */
const searchGraceMs = 60_000;

/**
 * Where a search over rows that no index knows begins: it reads all rows of its window, so the window has 31 days at most (section
 * 17). Without a beginning it is the last 31 days before its end; without an end it ends now.
 */
export function searchStart(window: { after?: Date | undefined; before?: Date | undefined }, now: Date): Date {
  const { after, before } = window;
  const lengthMs = maxSearchDays * dayMs;
  if (!after) return new Date((before ?? now).getTime() - lengthMs);
  const endMs = before?.getTime() ?? now.getTime() - searchGraceMs;
  if (endMs - after.getTime() > lengthMs) {
    throw validationError({ search: [`A search can cover at most ${maxSearchDays} days: narrow the time window.`] });
  }
  return after;
}

function checkOrder(text: string | undefined): void {
  if (text !== undefined && text !== "asc" && text !== "desc") {
    throw new QueryValueError(`"${text}" is not a valid choice. Use asc or desc.`);
  }
}

function parseOrdering(spec: ListSpec, raw: RawQuery): OrderTerm[] {
  const given = raw.ordering?.trim();
  if (given) {
    const parts = given.split(",").map((part) => part.trim());
    if (spec.kind === "cursor" && parts.length > 1) throw new QueryValueError("Only one ordering field is allowed.");
    // Checked before the terms are read: there are never more of them than fields.
    if (parts.length > spec.ordering.length) throw new QueryValueError("Each field can be given only once.");
    const terms = parts.map((part) => orderTerm(spec, part));
    if (new Set(terms.map(({ field }) => field)).size < terms.length) {
      throw new QueryValueError("Each field can be given only once.");
    }
    return terms;
  }
  if (spec.kind === "cursor" && (raw.order === "asc" || raw.order === "desc")) {
    return [{ field: spec.ordering[0] as string, descending: raw.order === "desc" }];
  }
  return [orderTerm(spec, spec.defaultOrdering)];
}

function orderTerm(spec: ListSpec, text: string): OrderTerm {
  const descending = text.startsWith("-");
  const field = descending ? text.slice(1) : text;
  if (!spec.ordering.includes(field)) {
    throw new QueryValueError(`"${text}" is not a valid ordering. Use: ${spec.ordering.join(", ")}.`);
  }
  return { field, descending };
}

const orderingText = (terms: readonly OrderTerm[]): string =>
  terms.map(({ field, descending }) => `${descending ? "-" : ""}${field}`).join(",");

export function encodeCursor(terms: readonly OrderTerm[], side: Cursor["side"], value: string, id: string): string {
  return Buffer.from(JSON.stringify([orderingText(terms), side === "after" ? 1 : 0, value, id])).toString("base64url");
}

function decodeCursor(text: string, terms: readonly OrderTerm[]): Cursor {
  const bytes = Buffer.from(text, "base64url");
  // The decoder skips what it does not know; a cursor with something added is broken all the same.
  if (bytes.toString("base64url") !== text.replace(/=+$/, "")) throw invalidCursor();
  let parts: unknown;
  try {
    parts = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw invalidCursor();
  }
  if (!Array.isArray(parts) || parts.length !== 4) throw invalidCursor();
  const [ordering, side, value, id] = parts as unknown[];
  const broken = typeof value !== "string" || typeof id !== "string" || (side !== 0 && side !== 1);
  if (broken || value.includes("\0") || id.includes("\0")) throw invalidCursor();
  if (ordering !== orderingText(terms)) throw invalidCursor("The cursor belongs to a different ordering.");
  return { ordering: orderingText(terms), side: side === 1 ? "after" : "before", value, id };
}
