import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";

/**
 * Asks an outside service that the operator configured. Every question ends within the time limit, and an answer is read up to
 * a bound, so that a slow or broken service costs neither time nor memory. Failures carry a code and never the URL, which may
 * hold a key, nor anything of the question.
 */
export interface PlaceClient {
  get(url: URL): Promise<ServiceReply>;
  post(url: URL, body: unknown): Promise<ServiceReply>;
  /** Ends what is in progress at once. */
  close(): void;
}

export type ServiceReply =
  | { kind: "answer"; body: unknown }
  /** 404: the service works and does not know. */
  | { kind: "unknown" }
  | { kind: "failed"; error: string; pauseMs?: number };

/** The error of questions that were in progress when the client was closed. */
export const questionCutOff = "closed";

export interface ClientLimits {
  /** From the question to an open connection: name lookup, TCP and TLS. */
  connectMs: number;
  totalMs: number;
  bytes: number;
}

// The built-in fetch is not used: it has no time limit for connecting.
export const clientLimits: ClientLimits = { connectMs: 2000, totalMs: 5000, bytes: 256 * 1024 };

export function makePlaceClient(connections: number, limits = clientLimits): PlaceClient {
  const options = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: 60_000 };
  const agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent(options) };
  const inProgress = new Set<() => void>();
  let isClosed = false;

  function ask(url: URL, method: "GET" | "POST", body?: string): Promise<ServiceReply> {
    if (isClosed) return Promise.resolve({ kind: "failed", error: questionCutOff });
    const isTls = url.protocol === "https:";
    const headers = {
      accept: "application/json",
      "user-agent": "vigil",
      ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    return new Promise((resolve) => {
      const agent = isTls ? agents["https:"] : agents["http:"];
      const request = (isTls ? httpsRequest : httpRequest)(url, { method, headers, agent });
      const end = (reply: ServiceReply): void => {
        clearTimeout(connecting);
        clearTimeout(total);
        inProgress.delete(stop);
        resolve(reply);
      };
      const fail = (error: string): void => {
        end({ kind: "failed", error });
        request.destroy();
      };
      const stop = (): void => fail(questionCutOff);
      const connecting = setTimeout(() => fail("connect_timeout"), limits.connectMs);
      const total = setTimeout(() => fail("timeout"), limits.totalMs);
      inProgress.add(stop);
      request.on("socket", (socket: Socket) => {
        const connected = (): void => clearTimeout(connecting);
        if (request.reusedSocket) connected();
        else socket.once(isTls ? "secureConnect" : "connect", connected);
      });
      request.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? "request_failed"));
      request.on("response", (response) => {
        readBody(response, limits.bytes).then(
          (text) => (text === undefined ? fail("too_large") : end(replyOf(response, text))),
          () => fail("cut_off"),
        );
      });
      request.end(body);
    });
  }

  return {
    get: (url) => ask(url, "GET"),
    post: (url, body) => ask(url, "POST", JSON.stringify(body)),
    close: () => {
      isClosed = true;
      for (const stop of inProgress) stop();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

async function readBody(response: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function replyOf({ statusCode = 0, headers }: IncomingMessage, text: string): ServiceReply {
  if (statusCode === 404) return { kind: "unknown" };
  if (statusCode === 429 || statusCode === 503) {
    const seconds = Number(headers["retry-after"]);
    const pause = statusCode === 429 || seconds > 0 ? { pauseMs: (seconds > 0 ? seconds : 0) * 1000 } : {};
    return { kind: "failed", error: `http_${statusCode}`, ...pause };
  }
  if (statusCode !== 200) return { kind: "failed", error: `http_${statusCode}` };
  try {
    return { kind: "answer", body: JSON.parse(text) as unknown };
  } catch {
    return { kind: "failed", error: "malformed" };
  }
}
