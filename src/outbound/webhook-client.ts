import { X509Certificate } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { isIP, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { buildConnector, type Dispatcher, Pool } from "undici";
import { isAllowedAddress, type Resolve } from "../resources/organizations/webhook-target.ts";
import { answerText, maxAnswerTextBytes } from "./answer-text.ts";
import type { Outcome } from "./delivery-policy.ts";
import { makeNameLookup } from "./name-lookup.ts";

export interface WebhookClientOptions {
  /** From the beginning of the connection to the headers of the answer. */
  timeoutMs: number;
  allowCidrs: readonly string[];
  /** Certificates in PEM form that are trusted beside the usual ones. */
  extraCa?: string | undefined;
  /** Connections of one target. */
  connections: number;
  resolve?: Resolve;
}

export interface Answer {
  outcome: Outcome;
  durationMs: number;
  retryAfter: string | undefined;
  /** The beginning of the body of the answer; null without one. */
  text: string | null;
}

/** The address of one integration, with connections that nobody else uses. */
export interface WebhookTarget {
  send(headers: Record<string, string>, body: Buffer): Promise<Answer>;
  close(): void;
}

export type OpenTarget = (url: string) => WebhookTarget;

/** Of the body of an answer only the beginning is of interest; more is read only so that the connection can be used again. */
const maxAnswerBytes = 4096;
const answerBodyMs = 1000;
const idleMs = 4000;
/** A name that moves is followed within this time, however busy its connections are. */
const connectionLifeMs = 300_000;

class AddressRefused extends Error {}

/**
 * Opens targets whose every connection is checked (section 19.1): all addresses of the name are looked up, one that is not
 * allowed refuses them all, and what is dialled is what was checked. Redirects are not followed.
 */
export function makeWebhookClient(options: WebhookClientOptions): OpenTarget {
  const { timeoutMs, allowCidrs, extraCa, connections } = options;
  const resolve = options.resolve ?? makeNameLookup();
  // One context for all: reading the roots again for each connection would cost more than the handshake. Made for the first target.
  const extra = extraCa === undefined ? [] : certificatesIn(extraCa);
  // A file that holds no certificate stops the start, not the first delivery.
  for (const pem of extra) new X509Certificate(pem);
  let secureContext: SecureContext | undefined;
  const findSecureContext = (): SecureContext | undefined => {
    if (extra.length > 0) secureContext ??= createSecureContext({ ca: [...rootCertificates, ...extra] });
    return secureContext;
  };

  const check = (addresses: readonly string[]): void => {
    const refused = addresses.find((address) => !isAllowedAddress(address, allowCidrs));
    if (refused !== undefined) throw new AddressRefused(`address refused: ${refused} is not public`);
    if (addresses.length === 0) throw Object.assign(new Error("the host name has no address"), { code: "ENOTFOUND" });
  };
  const checkedLookup = (
    hostname: string,
    { all }: { all?: boolean },
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    resolve(hostname).then(
      (addresses) => {
        try {
          check(addresses);
        } catch (error) {
          return done(error as Error, []);
        }
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (all) done(null, found);
        else done(null, found[0]?.address as string, found[0]?.family as number);
      },
      (error: Error) => done(error, []),
    );
  };

  return (url) => {
    const { origin, pathname, search } = new URL(url);
    const trusted = findSecureContext();
    const dial = buildConnector({
      lookup: checkedLookup as never,
      autoSelectFamily: true,
      timeout: timeoutMs,
      // Said aloud, because NODE_TLS_REJECT_UNAUTHORIZED would change what is left unsaid.
      rejectUnauthorized: true,
      ...(trusted ? { secureContext: trusted } : {}),
    });
    const pool = new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: idleMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      clientTtl: connectionLifeMs,
      maxHeaderSize: 16_384,
      connect: (given, callback) => {
        try {
          // An address that is written in the URL is never looked up.
          if (isIP(given.hostname) !== 0) check([given.hostname]);
        } catch (error) {
          return callback(error as Error, null);
        }
        return dial(given, (...[error, socket]) => {
          if (error) return callback(error, null);
          skipInterim(socket);
          callback(null, socket);
        });
      },
    });
    // Each request hears of its own failure; the pool would throw it once more without a listener.
    pool.on("connectionError", () => undefined);
    return {
      send: (headers, body) => sendOnce(pool, { path: `${pathname}${search}`, headers, body }, timeoutMs),
      close: () => void pool.destroy().catch(() => undefined),
    };
  };
}

/** An answer that announces another one. 101 is none: it ends the conversation. */
const interim = /^HTTP\/1\.[01] 1(?!01)\d\d\b/;

/**
 * A server may say "100 Continue" before its answer although nobody asked (RFC 9110, 15.2), and undici then gives the connection
 * up. What comes before the answer is taken out before undici sees it; in the body of an answer it would do no harm, because that
 * is dropped.
 */
function skipInterim(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return chunk;
    let begin = 0;
    while (interim.test(chunk.toString("latin1", begin, begin + 13))) {
      const end = chunk.indexOf("\r\n\r\n", begin);
      if (end < 0) break;
      begin = end + 4;
    }
    if (begin === 0) return chunk;
    return begin < chunk.length ? chunk.subarray(begin) : socket.read(size);
  };
}

const certificatesIn = (pem: string): string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [pem];

interface OneRequest {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Settles with the headers of the answer; resolves when the connection is free again, so that the next attempt finds it. */
function sendOnce(pool: Pool, request: OneRequest, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    let controller: Dispatcher.DispatchController | undefined;
    let answer: Omit<Answer, "text"> | undefined;
    let answerBytes = 0;
    let beginning = Buffer.alloc(0);
    let isOver = false;
    const settle = (outcome: Outcome, retryAfter?: string): void => {
      answer ??= { outcome, durationMs: Math.round(performance.now() - startedMs), retryAfter };
    };
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (answer) resolve({ ...answer, text: answerText(beginning) });
    };
    const giveUp = (): void => {
      settle({ kind: "failed", error: `no answer within ${timeoutMs} ms`, isTimeout: true });
      finish();
      controller?.abort(new Error("given up"));
    };
    let timer = setTimeout(giveUp, timeoutMs);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (isOver) started.abort(new Error("given up"));
      },
      onResponseStart: (_, status, headers) => {
        if (status < 200) return;
        const { "retry-after": retryAfter } = headers;
        settle({ kind: "answered", status }, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
        clearTimeout(timer);
        timer = setTimeout(giveUp, answerBodyMs);
      },
      onResponseData: (started, chunk) => {
        answerBytes += chunk.length;
        // One byte more than is kept tells that there is more.
        if (beginning.length <= maxAnswerTextBytes) {
          beginning = Buffer.concat([beginning, chunk.subarray(0, maxAnswerTextBytes + 1 - beginning.length)]);
        }
        if (answerBytes > maxAnswerBytes) started.abort(new Error("enough"));
      },
      onResponseEnd: finish,
      onResponseError: (_, error) => {
        settle({ kind: "failed", error: failureText(error) });
        finish();
      },
    };
    try {
      pool.dispatch({ ...request, method: "POST" }, handler);
    } catch (error) {
      settle({ kind: "failed", error: failureText(error) });
      finish();
    }
  });
}

const texts: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  UND_ERR_SOCKET: "connection closed without an answer",
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name does not resolve",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too large",
};

function failureText(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, cause, name } = first as { code?: unknown; cause?: unknown; name?: unknown };
  if (name === "HTTPParserError") return "the answer is not HTTP";
  if (typeof code !== "string") return cause ? failureText(cause) : "connection failed";
  const known = texts[code];
  if (known !== undefined) return `${known} (${code})`;
  return /CERT|TLS|SSL|SIGNED|LEAF|ISSUER/.test(code) ? `TLS failed (${code})` : `connection failed (${code})`;
}
