import {
  answerWith,
  makeReceiver,
  maxWebhookBytes,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
} from "./receiver.ts";
import type { WebhookHeaders } from "./verify-webhook.ts";

/** The parts of the frameworks that are used; none of them is a dependency. */

export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

const tooLarge = answerWith(413, "too large");
const onlyPost = answerWith(405, "only POST", { allow: "POST" });

async function readBody(chunks: AsyncIterable<Uint8Array | string>): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
    size += bytes.length;
    if (size > maxWebhookBytes) return undefined;
    parts.push(bytes);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

const write = (response: NodeResponse, { status, headers, body }: ReceiverAnswer): void => {
  response.writeHead(status, headers);
  response.end(body);
};

async function answerNode(receive: Receiver, request: NodeRequest): Promise<ReceiverAnswer> {
  if (request.method !== "POST") return onlyPost;
  const body = await readBody(request);
  return body === undefined ? tooLarge : receive(body, request.headers);
}

/** `http.createServer(nodeHandler(options))`; also for a page of Next with `bodyParser: false`. */
export function nodeHandler(options: ReceiverOptions): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  const receive = makeReceiver(options);
  return async (request, response) => {
    try {
      write(response, await answerNode(receive, request));
    } catch (error) {
      // The sender hung up within its request.
      options.onError?.(error, undefined);
      write(response, answerWith(400, "incomplete"));
    }
  };
}

/** `app.post("/hook", expressHandler(options))`, before `express.json()`, or with `express.raw({ type: "application/json" })`. */
export function expressHandler(
  options: ReceiverOptions,
): (request: NodeRequest & { body?: unknown }, response: NodeResponse) => Promise<void> {
  const receive = makeReceiver(options);
  const plain = nodeHandler(options);
  return async (request, response) => {
    const { body } = request;
    const isParsed = typeof body === "object" && body !== null && !(body instanceof Uint8Array);
    // Express 4 sets an empty object when no parser has read the body.
    if (body === undefined || (isParsed && Object.keys(body).length === 0)) return plain(request, response);
    if (typeof body === "string" || body instanceof Uint8Array)
      return write(response, await receive(body, request.headers));
    const message = "The body was parsed before the webhook handler: mount it before express.json().";
    options.onError?.(new TypeError(message), undefined);
    write(response, answerWith(500, "failed"));
  };
}

interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  headers(headers: Record<string, string>): FastifyReplyLike;
  send(body: string): unknown;
}

interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: "buffer"; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown;
  post(
    path: string,
    handler: (request: { headers: WebhookHeaders; body: unknown }, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}

/** `app.register(fastifyWebhook({ path: "/hook", ...options }))`. Other routes keep their parsers. */
export function fastifyWebhook(options: ReceiverOptions & { path: string }): (app: FastifyLike) => Promise<void> {
  const receive = makeReceiver(options);
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: maxWebhookBytes }, (_, body, done) =>
      done(null, body),
    );
    app.post(options.path, async (request, reply) => {
      const raw = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const { status, headers, body } = await receive(raw, request.headers);
      return reply.code(status).headers(headers).send(body);
    });
  };
}

/** For everything that speaks Request and Response: Deno.serve, Bun.serve, Workers with node:crypto. */
export function fetchHandler(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const receive = makeReceiver(options);
  const answer = async (request: Request): Promise<ReceiverAnswer> => {
    if (request.method !== "POST") return onlyPost;
    if (Number(request.headers.get("content-length") ?? 0) > maxWebhookBytes) return tooLarge;
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.length > maxWebhookBytes ? tooLarge : receive(bytes, request.headers);
  };
  return async (request) => {
    const { status, headers, body } = await answer(request);
    return new Response(body, { status, headers });
  };
}

/** `app.post("/hook", honoHandler(options))`. */
export function honoHandler(options: ReceiverOptions): (context: { req: { raw: Request } }) => Promise<Response> {
  const handle = fetchHandler(options);
  return (context) => handle(context.req.raw);
}

/** `export const POST = nextHandler(options)` in `app/hook/route.ts`. */
export const nextHandler = fetchHandler;
