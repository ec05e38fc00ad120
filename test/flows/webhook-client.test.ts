import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type Answer,
  makeWebhookClient,
  type WebhookClientOptions,
  type WebhookTarget,
} from "../../src/outbound/webhook-client.ts";
import { makeAuthority } from "../support/certificates.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";

const authority = makeAuthority();
const body = Buffer.from('{"id":"1"}');
let receiver: Receiver;
const opened: WebhookTarget[] = [];

beforeAll(async () => {
  receiver = await openReceiver(authority, { names: ["127.0.0.1", "hooks.example.org"] });
});
afterEach(() => {
  for (const target of opened.splice(0)) target.close();
  receiver.calls.length = 0;
  receiver.answer(200);
});
afterAll(() => receiver.close());

const defaults = { timeoutMs: 5000, allowCidrs: ["127.0.0.0/8"], extraCa: authority.ca, connections: 4 };
/** Reading the authorities takes a while, so those who can share a client. */
const shared = { allowed: makeWebhookClient(defaults), strict: makeWebhookClient({ ...defaults, allowCidrs: [] }) };

function target(url: string, options?: Partial<WebhookClientOptions>): WebhookTarget {
  const open = options ? makeWebhookClient({ ...defaults, ...options }) : shared.allowed;
  opened.push(open(url));
  return opened.at(-1) as WebhookTarget;
}

/** A connection is free again one turn of the event loop after the end of the answer. */
async function sendAndFree(one: WebhookTarget): Promise<Answer> {
  const answer = await one.send({}, body);
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  return answer;
}

async function errorOf(url: string, options?: Partial<WebhookClientOptions>): Promise<string> {
  return textOf(await target(url, options).send({}, body));
}

function textOf({ outcome }: Answer): string {
  return outcome.kind === "failed" ? outcome.error : `HTTP ${outcome.status}`;
}

describe("an attempt", () => {
  it("posts the bytes and reports the status", async () => {
    const answer = await target(`${receiver.url}/a?b=c`).send({ "Content-Type": "application/json" }, body);
    expect(answer).toMatchObject({ outcome: { kind: "answered", status: 200 }, retryAfter: undefined });
    expect(receiver.calls).toHaveLength(1);
    expect(receiver.calls[0]).toMatchObject({ path: "POST /hook/a?b=c", raw: body });
    expect(receiver.calls[0]?.headers).toMatchObject({ "content-length": "10", "content-type": "application/json" });
  });

  it("uses its connection again", async () => {
    const before = receiver.connections();
    const one = target(receiver.url);
    for (let n = 0; n < 5; n++) await sendAndFree(one);
    expect(receiver.connections() - before).toBe(1);
  });

  it("follows no redirect", async () => {
    receiver.answer((_, response) => {
      response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end();
      return undefined;
    });
    expect(await errorOf(receiver.url)).toBe("HTTP 302");
    expect(receiver.calls).toHaveLength(1);
  });

  it("waits for the answer after 100 and 103, which a server may send unasked", async () => {
    const before = receiver.connections();
    receiver.answer((_, response) => {
      response.writeContinue();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      setImmediate(() => response.writeHead(201).end("ok"));
      return undefined;
    });
    const one = target(receiver.url);
    expect([textOf(await sendAndFree(one)), textOf(await sendAndFree(one))]).toEqual(["HTTP 201", "HTTP 201"]);
    expect(receiver.connections() - before).toBe(1);
  });

  it("waits for the answer however many others come before it, in one piece or not", async () => {
    const hint = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
    const early = `HTTP/1.1 102 Processing\r\n\r\n${hint}HTTP/1.1 100 Continue\r\n\r\n`;
    const answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    for (const pieces of [[early + answer], [early, early, answer], [hint, `HTTP/1.1 100\r\n\r\n${answer}`]]) {
      receiver.answer((_, { socket }) => {
        for (const [index, piece] of pieces.entries()) setTimeout(() => socket?.write(piece), 10 * index);
        return undefined;
      });
      expect(await errorOf(receiver.url)).toBe("HTTP 202");
    }
  });

  it("fails when the answer is not HTTP, or another protocol", async () => {
    const answers = ["hello\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"];
    const errors: string[] = [];
    for (const answer of answers) {
      receiver.answer((_, { socket }) => {
        socket?.write(answer);
        return undefined;
      });
      errors.push(await errorOf(receiver.url));
    }
    expect(errors).toEqual(["the answer is not HTTP", expect.stringMatching(/^connection closed/)]);
  });

  it("ends when no headers come in time", async () => {
    receiver.answer(() => undefined);
    const answer = await target(receiver.url, { timeoutMs: 100 }).send({}, body);
    expect(answer.outcome).toEqual({ kind: "failed", error: "no answer within 100 ms", isTimeout: true });
  });

  it("is what the headers say, however long the body is", async () => {
    receiver.answer((_, response) => {
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(2000), () => setImmediate(more));
      };
      more();
      return undefined;
    });
    expect(await errorOf(receiver.url)).toBe("HTTP 200");
  });

  it("is what the headers say, when the body never ends", async () => {
    receiver.answer((_, response) => {
      response.writeHead(503, { "retry-after": "9" }).write("wait");
      return undefined;
    });
    const answer = await target(receiver.url).send({}, body);
    expect(answer).toMatchObject({ outcome: { kind: "answered", status: 503 }, retryAfter: "9" });
  });

  it("fails when the connection ends without an answer", async () => {
    receiver.answer(() => {
      receiver.cut();
      return undefined;
    });
    expect(await errorOf(receiver.url)).toMatch(/^connection (reset|closed)/);
  });

  it("fails when nobody listens", async () => {
    const closed = await openReceiver(authority);
    await closed.close();
    expect(await errorOf(closed.url)).toBe("connection refused (ECONNREFUSED)");
  });
});

describe("the certificate", () => {
  it("must come from a known authority", async () => {
    expect(await errorOf(receiver.url, { extraCa: undefined })).toMatch(/^TLS failed/);
    expect(await errorOf(receiver.url, { extraCa: makeAuthority().ca })).toMatch(/^TLS failed/);
  });

  it("is checked whatever the environment says to Node", async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      expect(await errorOf(receiver.url, { extraCa: undefined })).toMatch(/^TLS failed/);
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it("must name the host of the URL, not the address it has", async () => {
    const resolve = async () => ["127.0.0.1"];
    const at = (host: string) => errorOf(`https://${host}:${receiver.port}/`, { resolve });
    expect(await at("hooks.example.org")).toBe("HTTP 200");
    expect(await at("other.example.org")).toMatch(/^TLS failed/);
  });

  it("must be valid today", async () => {
    const { createServer } = await import("node:https");
    const server = createServer(authority.issue(["127.0.0.1"], { from: -20, to: -10 }), (_, response) =>
      response.end(),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await errorOf(`https://127.0.0.1:${port}/`)).toMatch(/^TLS failed/);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("where an attempt may go", () => {
  /** Nobody may be dialled: the receiver would be reached by all that lead to this machine. */
  const refusedLiterals = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[ff02::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001:db8::1]",
    "[2001::1]",
    "[100::1]",
    "[3fff::1]",
  ];
  it.each(refusedLiterals)("refuses https://%s/", async (host) => {
    const one = shared.strict(`https://${host}:${receiver.port}/`);
    opened.push(one);
    expect(textOf(await one.send({}, body))).toMatch(/^address refused/);
    expect(receiver.calls).toEqual([]);
  });

  it("refuses a name with any address that is not public", async () => {
    const resolve = async () => ["93.184.215.14", "127.0.0.1"];
    const error = await errorOf(`https://hooks.example.org:${receiver.port}/`, { allowCidrs: [], resolve });
    expect(error).toBe("address refused: 127.0.0.1 is not public");
    expect(receiver.calls).toEqual([]);
  });

  it("dials the address it checked, and looks again at the next connection", async () => {
    const answers = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"]];
    let asked = 0;
    const resolve = async () => answers[asked++] ?? [];
    const one = target(`https://hooks.example.org:${receiver.port}/`, { resolve });
    expect(await sendAndFree(one)).toMatchObject({ outcome: { status: 200 } });
    expect(asked).toBe(1);
    // The connection is gone, so the name is looked up again, and now points elsewhere.
    receiver.answer(() => {
      receiver.cut();
      return undefined;
    });
    await sendAndFree(one);
    receiver.answer(200);
    expect(await sendAndFree(one)).toMatchObject({
      outcome: { kind: "failed", error: "address refused: 10.0.0.1 is not public" },
    });
    expect(await sendAndFree(one)).toMatchObject({ outcome: { status: 200 } });
    expect(asked).toBe(3);
  });

  it("fails for a name that does not resolve", async () => {
    const resolve = async (): Promise<string[]> => {
      throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    };
    expect(await errorOf("https://hooks.example.org/", { resolve })).toBe("the host name does not resolve (ENOTFOUND)");
    expect(await errorOf("https://hooks.example.org/", { resolve: async () => [] })).toMatch(/does not resolve/);
  });

  it("refuses a redirect to a private address by not following it", async () => {
    receiver.answer((_, response) => {
      response.writeHead(307, { location: "https://10.0.0.1/" }).end();
      return undefined;
    });
    expect(await errorOf(receiver.url)).toBe("HTTP 307");
  });
});
