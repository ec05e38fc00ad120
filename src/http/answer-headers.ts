import type { FastifyReply, FastifyRequest } from "fastify";
import { pushRateHeaders } from "./rate-limit-window.ts";

/**
 * On every answer. Nothing here is meant for browsers of other sites, so no CORS header is ever sent; the policy forbids frames
 * and everything else, and pages replace it by their own.
 */
export const baseHeaders = (id: string): Record<string, string> => ({
  "x-request-id": id,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
});

const constantHeaders = Object.entries(baseHeaders("")).slice(1).flat();

export const jsonType = "application/json; charset=utf-8";

/** The headers of every answer of the API, names and values in turns. */
function apiHeaders({ id, rateDecision }: FastifyRequest): string[] {
  const headers = ["x-request-id", id, ...constantHeaders];
  if (rateDecision) pushRateHeaders(headers, rateDecision);
  return headers;
}

/** The same for an answer that the framework writes. */
export function setApiHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const headers = apiHeaders(request);
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at] as string, headers[at + 1]);
}

/** JSON as it goes out. */
export interface JsonText {
  readonly text: string;
  readonly bytes: number;
}

export const jsonTextOf = (text: string): JsonText => ({ text, bytes: Buffer.byteLength(text) });

/**
 * Writes an answer past the framework, which would copy and compare each header once more.
 * Text in ASCII goes out as Latin 1, which copies it instead of encoding it.
 */
export function writeJson(request: FastifyRequest, reply: FastifyReply, status: number, json: JsonText): void {
  const { text, bytes } = json;
  const headers = apiHeaders(request);
  headers.push("content-type", jsonType, "content-length", String(bytes));
  reply.raw.writeHead(status, headers);
  reply.raw.end(text, bytes === text.length ? "latin1" : "utf8");
}
