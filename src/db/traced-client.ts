import type { Client, PoolClient, QueryConfig, Submittable } from "pg";
import type { Span, Tracer } from "../tracing/tracer.ts";

type Query = (...given: unknown[]) => unknown;

/** What the client calls when a message of our own is over; see copy-in.ts and pipeline.ts. */
interface OwnMessage extends Submittable {
  label: string;
  /** Of a message with one statement. */
  queryText?: string;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

const maxTextChars = 2000;

/** Makes every statement that runs within a trace a span of it. */
export function traceStatements(client: Client | PoolClient, tracer: Tracer): void {
  const query = client.query.bind(client) as Query;
  const traced: Query = (...given) => {
    const parent = tracer.current;
    if (!parent) return query(...given);
    const [first] = given;
    const span = parent.child(...startOf(first));
    if (isOwnMessage(first)) endWithMessage(span, first);
    const answer = query(...given);
    if (answer instanceof Promise) {
      answer.then(
        () => span.end(),
        (error: unknown) => span.end({ error: codeOf(error) }),
      );
    }
    return answer;
  };
  client.query = traced as Client["query"];
}

const isOwnMessage = (given: unknown): given is OwnMessage =>
  typeof given === "object" && given !== null && "submit" in given && typeof given.submit === "function";

function endWithMessage(span: Span, message: OwnMessage): void {
  const [onReady, onError] = [message.handleReadyForQuery.bind(message), message.handleError.bind(message)];
  message.handleReadyForQuery = () => {
    span.end();
    onReady();
  };
  message.handleError = (error) => {
    span.end({ error: codeOf(error) });
    onError(error);
  };
}

/** The message of a database error quotes values; its code does not. */
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? "failed";

/**
 * Values are parameters, so the text of a statement tells nothing of anybody. A text without parameters may have ids in it: it
 * is left out where it quotes anything.
 */
function startOf(given: unknown): Parameters<Span["child"]> {
  const attributes = { "db.system.name": "postgresql" };
  if (isOwnMessage(given)) {
    const { label, queryText } = given;
    const shown = queryText === undefined ? {} : { "db.query.text": compact(queryText) };
    return [label, { kind: "client", attributes: { ...attributes, ...shown } }];
  }
  const isPlain = typeof given === "string";
  const text = isPlain ? given : (given as QueryConfig).text;
  const shown = isPlain && text.includes("'") ? {} : { "db.query.text": compact(text) };
  return [summaryOf(text), { kind: "client", attributes: { ...attributes, ...shown } }];
}

const compact = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, maxTextChars);

/** `SELECT devices`: the first word, and the first table where there is one. */
export function summaryOf(text: string): string {
  const operation = /^\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? "STATEMENT";
  const table = /\b(?:copy|from|into|update)\s+([a-z_]+)/i.exec(text)?.[1];
  return table === undefined ? operation : `${operation} ${table}`;
}
