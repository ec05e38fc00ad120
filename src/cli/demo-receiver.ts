import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { webhookHeaders } from "../outbound/webhook-signature.ts";
import { receiverPage } from "./demo-receiver-page.ts";

/** A request that arrived at the receiver, whoever sent it. */
export interface ReceivedEvent {
  received_at: string;
  type: string;
  id: string;
  device: string;
  is_verified: boolean;
  /** Why it was refused. */
  reason: string | null;
  body: string;
}

export interface DemoReceiver {
  page: string;
  hook: string;
  close(): Promise<void>;
}

const maxBodyBytes = 1_048_576;
const maxEvents = 500;
const toleranceSeconds = 300;

/** A partner's receiver of webhooks as the guide describes it, with a page of what came and whether the signature was right. */
export async function openDemoReceiver(port: number, secret: string, nowMs: () => number): Promise<DemoReceiver> {
  const events: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const { method, url } = request;
    if (method === "POST" && url === "/hook") void receive(request, response);
    else if (method === "GET" && url === "/") {
      write(response, 200, "text/html; charset=utf-8", receiverPage(events, secret));
    } else if (method === "GET" && url === "/events.json") {
      write(response, 200, "application/json", JSON.stringify(events));
    } else write(response, 404, "text/plain", "not found");
  });

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request).catch(() => undefined);
    if (!body) return write(response, 413, "text/plain", "not read");
    const reason = refusal(request, body, secret, nowMs());
    events.unshift({ received_at: new Date(nowMs()).toISOString(), ...describe(body), is_verified: !reason, reason });
    events.length = Math.min(events.length, maxEvents);
    write(response, reason ? 401 : 200, "text/plain", reason ?? "ok");
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    page,
    hook: `${page}hook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function write(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "content-type": type,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "cache-control": "no-store",
  });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) throw new Error("the body is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Undefined: the request was signed with the secret, not long ago. */
function refusal({ headers }: IncomingMessage, body: Buffer, secret: string, nowMs: number): string | null {
  const [id, timestamp, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    String(headers[name] ?? ""),
  ) as [string, string, string];
  if (id === "" || timestamp === "" || given === "") return "no signature";
  const signedMs = Number(timestamp) * 1000;
  if (!(Math.abs(nowMs - signedMs) <= toleranceSeconds * 1000)) return "signed too long ago";
  const expected = webhookHeaders({ id, type: "webhook.test", body }, 1, { current: secret, previous: null }, signedMs);
  const wanted = Buffer.from(String(expected["webhook-signature"]));
  const isSigned = given.split(" ").some((one) => {
    const bytes = Buffer.from(one);
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
  });
  return isSigned ? null : "wrong signature";
}

function describe(body: Buffer): Pick<ReceivedEvent, "type" | "id" | "device" | "body"> {
  const text = body.toString("utf8");
  try {
    const { type, id, device } = JSON.parse(text) as { type?: unknown; id?: unknown; device?: { uid?: unknown } };
    return { type: String(type ?? "?"), id: String(id ?? "?"), device: String(device?.uid ?? "?"), body: text };
  } catch {
    return { type: "?", id: "?", device: "?", body: text };
  }
}
