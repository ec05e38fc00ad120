import type { FastifyRequest } from "fastify";
import { csrfFailed } from "../lib/errors.ts";
import type { Caller } from "./principal.ts";

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * A browser sends the session cookie with whatever page makes the call. A call that changes something must therefore show that
 * it comes from the console: a header that other sites cannot set, and the origin where the browser tells it (section 27.1).
 */
export function checkOrigin(request: FastifyRequest, caller: Caller, baseUrl: () => string): void {
  if (caller.kind === "partner" || caller.browserSessionId === null || safeMethods.has(request.method)) return;
  const { origin, "sec-fetch-site": site, "x-vigil-console": mark } = request.headers;
  const isOwnOrigin = origin === undefined || origin === new URL(baseUrl()).origin;
  const isOwnSite = site === undefined || site === "same-origin";
  if (mark !== "1" || !isOwnOrigin || !isOwnSite) throw csrfFailed();
}
