import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { describe, expect, it } from "vitest";
import { webhookHeaders } from "../../src/outbound/webhook-signature.ts";
import {
  expressHandler,
  fastifyWebhook,
  honoHandler,
  memoryDeduplication,
  nextHandler,
  nodeHandler,
  type OutboundEvent,
  type ReceiverOptions,
  verifyWebhook,
  WebhookVerificationError,
} from "../src/vigil-client.ts";

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const id = "019ca877-8198-7a3c-9f61-2b7e5d0c4a11";
const body = Buffer.from(JSON.stringify({ id, type: "alarm.sos", data: { message: "Größe" } }));
const signed = (nowMs = Date.now(), secrets = { current: secret, previous: null as string | null }, bytes = body) =>
  webhookHeaders({ id, type: "alarm.sos", body: bytes }, 1, secrets, nowMs);
const refusalOf = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    return error instanceof WebhookVerificationError ? error.reason : String(error);
  }
  return undefined;
};

describe("verifyWebhook", () => {
  it("returns the event of a request that the service has signed, whatever the case of its headers", () => {
    expect(verifyWebhook(body, signed(), secret).id).toBe(id);
    expect(verifyWebhook(body.toString(), new Headers(signed()), [other, secret]).type).toBe("alarm.sos");
  });

  it("accepts either secret during a rotation", () => {
    const headers = signed(Date.now(), { current: other, previous: secret });
    for (const known of [secret, other]) expect(verifyWebhook(body, headers, known).id).toBe(id);
  });

  it("refuses another body, another secret, another time and a missing signature", () => {
    expect(refusalOf(() => verifyWebhook(`${body} `, signed(), secret))).toBe("wrong_signature");
    expect(refusalOf(() => verifyWebhook(body, signed(), other))).toBe("wrong_signature");
    expect(refusalOf(() => verifyWebhook(body, signed(Date.now() - 301_000), secret))).toBe("outside_tolerance");
    expect(refusalOf(() => verifyWebhook(body, signed(Date.now() + 302_000), secret))).toBe("outside_tolerance");
    const moved = { ...signed(Date.now() - 400_000), "webhook-timestamp": String(Math.floor(Date.now() / 1000)) };
    expect(refusalOf(() => verifyWebhook(body, moved, secret))).toBe("wrong_signature");
    expect(refusalOf(() => verifyWebhook(body, { "x-signature": "sha256=00" }, secret))).toBe("missing_signature");
    const text = Buffer.from("no json");
    expect(refusalOf(() => verifyWebhook(text, signed(Date.now(), undefined, text), secret))).toBe("unreadable_body");
    expect(() => verifyWebhook(body, signed(), [])).toThrow(TypeError);
  });
});

type Post = (headers: Record<string, string>, bytes: Uint8Array) => Promise<number>;

/** Runs the work against a listening handler. */
async function listening(options: ReceiverOptions, kind: string, work: (post: Post) => Promise<void>): Promise<void> {
  if (kind === "fastify") {
    const app = fastify();
    app.register(fastifyWebhook({ ...options, path: "/hook" }));
    app.post("/other", async (request) => request.body);
    await work(async (headers, bytes) => {
      const url = "/hook";
      return (await app.inject({ method: "POST", url, headers, payload: Buffer.from(bytes) })).statusCode;
    });
    const parsed = await app.inject({ method: "POST", url: "/other", payload: { a: 1 } });
    expect(parsed.json()).toEqual({ a: 1 });
    return app.close();
  }
  if (kind === "hono" || kind === "next") {
    const [hono, next] = [honoHandler(options), nextHandler(options)];
    return work(async (headers, bytes) => {
      const request = new Request("http://a/hook", { method: "POST", headers, body: new Uint8Array(bytes) });
      return (await (kind === "hono" ? hono({ req: { raw: request } }) : next(request))).status;
    });
  }
  const [plain, express] = [nodeHandler(options), expressHandler(options)];
  const server = createServer((request, response) => {
    if (kind === "express after raw()") {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => express(Object.assign(request, { body: Buffer.concat(chunks) }), response));
    } else if (kind === "express") express(Object.assign(request, { body: {} }), response);
    else plain(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  try {
    await work(async (headers, bytes) => {
      return (await fetch(url, { method: "POST", headers, body: new Uint8Array(bytes) })).status;
    });
    if (kind === "node:http") expect((await fetch(url)).status).toBe(405);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe.each(["node:http", "express", "express after raw()", "fastify", "hono", "next"])(
  "the handler for %s",
  (kind) => {
    it("hands out verified events once, retries failures and refuses forgeries", async () => {
      const handled: string[] = [];
      const errors: unknown[] = [];
      let mustFail = true;
      const handle = (event: OutboundEvent): void => {
        if (mustFail) throw new Error("the database is down");
        handled.push(event.id);
      };
      const options = {
        secrets: secret,
        handle,
        deduplication: memoryDeduplication(),
        onError: (e: unknown) => errors.push(e),
      };
      await listening(options, kind, async (post) => {
        expect(await post(signed(), body)).toBe(500);
        mustFail = false;
        expect(await post(signed(), body)).toBe(200);
        expect(await post(signed(), body)).toBe(200);
        expect(await post({ ...signed(), "webhook-signature": "v1,AAAA" }, body)).toBe(401);
      });
      expect(handled).toEqual([id]);
      expect(errors).toHaveLength(2);
    });
  },
);

describe("receivers", () => {
  it("answer 503 to an attempt that overlaps another, so that it is made again", async () => {
    let finish = (): void => undefined;
    const handle = (): Promise<void> => new Promise((done) => (finish = done));
    const receive = nextHandler({ secrets: () => [secret], handle, deduplication: memoryDeduplication() });
    const request = (): Request =>
      new Request("http://a/", { method: "POST", headers: signed(), body: body.toString() });
    const first = receive(request());
    await new Promise((done) => setImmediate(done));
    expect((await receive(request())).status).toBe(503);
    finish();
    expect((await first).status).toBe(200);
    expect((await receive(request())).status).toBe(200);
  });

  it("say so when Express has parsed the body before them", async () => {
    const errors: unknown[] = [];
    const statuses: number[] = [];
    const handler = expressHandler({
      secrets: secret,
      handle: () => undefined,
      onError: (error) => errors.push(error),
    });
    async function* nothing(): AsyncGenerator<Uint8Array> {}
    const request = Object.assign(nothing(), { method: "POST", headers: signed(), body: JSON.parse(body.toString()) });
    await handler(request, { writeHead: (status) => statuses.push(status), end: () => undefined });
    expect(statuses).toEqual([500]);
    expect(String(errors[0])).toContain("express.json()");
  });

  it("forget only finished ids, the oldest first", () => {
    const known = memoryDeduplication({ maxIds: 2 });
    for (const one of ["a", "b", "c", "d"]) known.begin(one);
    for (const one of ["b", "c", "d"]) known.done(one);
    expect(["a", "b", "d"].map((one) => known.begin(one))).toEqual(["in_progress", "new", "done"]);
  });
});
