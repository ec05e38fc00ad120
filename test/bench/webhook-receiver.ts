import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

/**
 * A receiver in a process of its own. Arguments: the files of key and certificate. Prints its port; answers `stats` on its channel
 * with what came to each path since `reset`: how many requests, the time of the last one, and how long after the making of their
 * row they came (the id says when that was); those to `/packets` how long after the reception of their packet. `/fail` answers
 * 500, `/hang` nothing, everything else 200.
 */
const [keyFile = "", certFile = ""] = process.argv.slice(2);

interface Seen {
  count: number;
  firstMs: number;
  lastMs: number;
  delays: number[];
}
export interface ReceiverStats {
  count: number;
  firstMs: number;
  lastMs: number;
  p50: number;
  p99: number;
}

let seen = new Map<string, Seen>();
const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (request, response) => {
  const path = request.url ?? "/";
  let body = "";
  if (path === "/packets") request.setEncoding("utf8").on("data", (text: string) => (body += text));
  else request.resume();
  request.on("end", () => {
    const nowMs = Date.now();
    const entry = seen.get(path) ?? { count: 0, firstMs: nowMs, lastMs: nowMs, delays: [] };
    seen.set(path, entry);
    entry.count++;
    entry.lastMs = nowMs;
    const id = request.headers["idempotency-key"];
    const receivedAt = /"received_at":"([^"]+)"/.exec(body)?.[1];
    if (receivedAt !== undefined) entry.delays.push(nowMs - Date.parse(receivedAt));
    else if (typeof id === "string") entry.delays.push(nowMs - Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
    if (path === "/hang") return;
    response.writeHead(path === "/fail" ? 500 : 200).end();
  });
});
server.keepAliveTimeout = 60_000;
process.on("message", (message) => {
  if (message === "reset") seen = new Map();
  if (message !== "stats") return;
  const stats: Record<string, ReceiverStats> = {};
  for (const [path, { count, firstMs, lastMs, delays }] of seen) {
    const sorted = delays.toSorted((a, b) => a - b);
    const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
    stats[path] = { count, firstMs, lastMs, p50: at(0.5), p99: at(0.99) };
  }
  process.send?.(stats);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
